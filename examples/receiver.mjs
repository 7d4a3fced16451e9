// A receiver of webhooks, with nothing but the standard library.
//
//     WEBHOOK_SECRET=whsec_... PORT=3000 node receiver.mjs

import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const SECRET = process.env.WEBHOOK_SECRET; // the whole text, `whsec_` included
const BODY_BYTES_MAX = 256 * 1024;
const SKEW_SECONDS_MAX = 300;

if (!SECRET) throw new Error('WEBHOOK_SECRET is not set');

// In earnest a table with a unique key: it must outlive the process, and be written in the same
// transaction as what the event leads to.
const seen = new Set();

/** Whether the body is signed with our secret, and that not long ago. */
function isBelieved(headers, body) {
  const timestamp = headers['x-service-timestamp'] ?? '';
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  const hmac = createHmac('sha256', SECRET);
  // The bytes as they came, before any parser.
  const expected = Buffer.from(`v1=${hmac.update(`${timestamp}.`).update(body).digest('hex')}`);
  const given = Buffer.from(headers['x-service-signature'] ?? '');
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= SKEW_SECONDS_MAX;
  return given.length === expected.length && timingSafeEqual(given, expected) && isFresh;
}

/** Takes one delivery; the status to answer. */
function take(headers, body) {
  if (!isBelieved(headers, body)) return 401;
  let event;
  try {
    event = JSON.parse(body.toString('utf8'));
  } catch {
    return 400;
  }
  const id = event?.id;
  if (typeof id !== 'string' || id !== headers['x-service-event-id']) return 400;
  if (!seen.has(id)) {
    seen.add(id);
    act(event);
  }
  return 204;
}

/** What the event is for. It happens once, however often the event comes. */
function act(event) {
  console.log(`acted on ${event.id}: ${event.type}`);
}

/** The whole body, byte for byte; `null` when it is too large. */
async function read(request) {
  const chunks = [];
  let length = 0;
  // Leaving the loop early would close the connection before the answer.
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return length <= BODY_BYTES_MAX ? Buffer.concat(chunks) : null;
}

const server = createServer(async (request, response) => {
  const answer = (status, headers = {}) => response.writeHead(status, headers).end();
  if (request.method !== 'POST') return answer(405, { allow: 'POST' });
  if (Number(request.headers['content-length']) > BODY_BYTES_MAX) {
    return answer(413, { connection: 'close' });
  }
  try {
    const body = await read(request);
    if (body === null) return answer(413, { connection: 'close' });
    return answer(take(request.headers, body));
  } catch {
    return request.destroy(); // the sender went away; it will send the event again
  }
});
server.headersTimeout = server.requestTimeout = 10_000; // milliseconds
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
