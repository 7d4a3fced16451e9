// The public Node library, as its users call it: list, retrieve, chat, stream, errors.

const assert = require('node:assert');
const { OpenAI } = require('openai');

const { BASE_URL: baseURL, KEY, POOR_KEY, AGENTS_KEY } = process.env;
const client = new OpenAI({ baseURL, apiKey: KEY });
const messages = [{ role: 'user', content: 'Hello there' }];

async function thrown(kind, code, call) {
  try {
    await call();
  } catch (error) {
    assert.strictEqual(error.constructor, kind, `${error}`);
    assert.strictEqual(error.code, code);
    return error;
  }
  assert.fail(`${code} was not thrown`);
}

const ask = (model, more = {}, of = client) =>
  of.chat.completions.create({ model, messages, ...more });

async function models() {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepStrictEqual(names, [...names].sort());
  assert(names.includes('offline/echo') && names.includes('mock/paid:1'), `${names}`);
  assert.strictEqual((await client.models.retrieve('mock/paid:1')).id, 'mock/paid:1');
  await thrown(OpenAI.NotFoundError, 'model_not_found', () => client.models.retrieve('no/such:1'));
}

async function answers() {
  for (const model of ['offline/echo', 'offline/extract', 'offline/lorem-stream', 'mock/paid:1']) {
    const done = await ask(model, { max_tokens: 20 });
    assert.strictEqual(done.object, 'chat.completion');
    assert.strictEqual(done.model, model);
    assert(done.choices[0].message.content && done.usage.total_tokens > 0);
  }
  const done = await ask('mock/paid:1', { max_completion_tokens: 20, user: 'me' });
  assert.strictEqual(done.choices[0].message.content, 'Hello world');
  assert.strictEqual(done.usage.cost, '0.000009');
  assert(done._request_id.startsWith('req_'));
}

async function streams() {
  for (const model of ['offline/echo', 'mock/paid:1']) {
    for (const more of [{}, { stream_options: { include_usage: true } }]) {
      let text = '';
      const used = [];
      for await (const chunk of await ask(model, { stream: true, ...more })) {
        text += chunk.choices[0]?.delta?.content ?? '';
        if (chunk.usage) used.push(chunk.usage);
      }
      assert(text && used.length === 1, `${text} ${used.length}`);
      assert.strictEqual(used[0].currency, 'EUR');
    }
  }
  // One that is left early.
  for await (const _ of await ask('offline/lorem-stream', { stream: true })) break;
  // One that breaks off throws, after what came.
  let text = '';
  const error = await thrown(OpenAI.APIError, 'upstream_truncated', async () => {
    for await (const chunk of await ask('mock/cut:1', { stream: true })) {
      text += chunk.choices[0].delta.content ?? '';
    }
  });
  assert(error && text === 'Hello world', text);
}

async function errors() {
  const of = (apiKey) => new OpenAI({ baseURL, apiKey });
  const [stranger, poor, agents] = ['sk-wrong', POOR_KEY, AGENTS_KEY].map(of);
  const echo = 'offline/echo';
  await thrown(OpenAI.AuthenticationError, 'invalid_api_key', () => ask(echo, {}, stranger));
  await thrown(OpenAI.PermissionDeniedError, 'insufficient_rights', () => ask(echo, {}, agents));
  await thrown(OpenAI.NotFoundError, 'model_not_found', () => ask('nobody'));
  const wrong = () => ask(echo, { temperature: 9 });
  const told = await thrown(OpenAI.BadRequestError, 'invalid_value', wrong);
  assert.strictEqual(told.param, 'temperature');
  const money = () => ask('mock/paid:1', {}, poor);
  const short = await thrown(OpenAI.APIError, 'insufficient_balance', money);
  assert.strictEqual(short.status, 402);
  const { InternalServerError } = OpenAI;
  await thrown(InternalServerError, 'upstream_misconfigured', () => ask('mock/broken:1'));
  await thrown(InternalServerError, 'upstream_truncated', () => ask('mock/cut:1'));
  assert((await ask(echo, {}, poor)).choices[0].message.content);
}

(async () => {
  await models();
  await answers();
  await streams();
  await errors();
  console.log('all is well');
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
