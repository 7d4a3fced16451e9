"""The public Python library, as its users call it: list, retrieve, chat, stream, errors."""

import os

import openai

base_url = os.environ["BASE_URL"]
client = openai.OpenAI(base_url=base_url, api_key=os.environ["KEY"])
hello = [{"role": "user", "content": "Hello there"}]


def raised(kind, code, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind, (type(error), kind)
        assert error.code == code, (error.code, code)
        return error
    raise AssertionError(f"{code} was not raised")


def ask(model, of=client, **more):
    return of.chat.completions.create(model=model, messages=hello, **more)


# Models.
names = [it.id for it in client.models.list()]
assert names == sorted(names), names
assert {"offline/echo", "mock/paid:1"} <= set(names), names
model = client.models.retrieve("mock/paid:1")
assert model.id == "mock/paid:1" and model.owned_by, model
raised(openai.NotFoundError, "model_not_found", lambda: client.models.retrieve("no/such:model"))

# Whole answers.
for name in ["offline/echo", "offline/extract", "offline/lorem-stream", "mock/paid:1"]:
    done = ask(name, max_tokens=20)
    assert done.object == "chat.completion" and done.model == name, done
    assert done.choices[0].message.role == "assistant", done
    assert done.choices[0].message.content, done
    assert done.usage.total_tokens > 0, done
done = ask("mock/paid:1", max_completion_tokens=20, user="me", temperature=0)
assert done.choices[0].message.content == "Hello world"
assert done.choices[0].finish_reason == "stop"
assert done.usage.model_extra["cost"] == "0.000009", done.usage
assert done._request_id.startswith("req_"), done._request_id

# Streams, with and without the usage.
for name in ["offline/echo", "mock/paid:1"]:
    for options in [openai.NOT_GIVEN, {"include_usage": True}]:
        text, used = "", []
        for chunk in ask(name, stream=True, stream_options=options):
            if chunk.choices:
                text += chunk.choices[0].delta.content or ""
            if chunk.usage:
                used.append(chunk.usage)
        assert text and len(used) == 1, (text, used)
        assert used[0].model_extra["currency"] == "EUR", used

# A stream that is left early.
with ask("offline/lorem-stream", stream=True) as stream:
    next(iter(stream))

# A stream that breaks off raises, after what came.
text = ""
try:
    for chunk in ask("mock/cut:1", stream=True):
        text += chunk.choices[0].delta.content or ""
    raise AssertionError("a cut stream looked whole")
except openai.APIError as error:
    assert error.code == "upstream_truncated", error
assert text == "Hello world", text

# Errors.
once = client.with_options(max_retries=0)
stranger = openai.OpenAI(base_url=base_url, api_key="sk-wrong")
poor = openai.OpenAI(base_url=base_url, api_key=os.environ["POOR_KEY"])
agents = openai.OpenAI(base_url=base_url, api_key=os.environ["AGENTS_KEY"])
raised(openai.AuthenticationError, "invalid_api_key", lambda: ask("offline/echo", stranger))
raised(openai.PermissionDeniedError, "insufficient_rights", lambda: ask("offline/echo", agents))
raised(openai.NotFoundError, "model_not_found", lambda: ask("nobody"))
wrong = raised(openai.BadRequestError, "invalid_value", lambda: ask("offline/echo", temperature=9))
assert wrong.param == "temperature", wrong
raised(openai.BadRequestError, "unsupported_parameter", lambda: ask("offline/echo", n=2))
money = raised(openai.APIStatusError, "insufficient_balance", lambda: ask("mock/paid:1", poor))
assert money.status_code == 402 and money.type == "billing_error", money
assert money.body["details"]["currency"] == "EUR", money.body
for kind in ["mock/broken:1", "mock/cut:1"]:
    code = "upstream_misconfigured" if "broken" in kind else "upstream_truncated"
    failed = raised(openai.InternalServerError, code, lambda: ask(kind))
    assert failed.status_code == 502, failed
assert ask("offline/echo", poor).choices[0].message.content

print("all is well")
