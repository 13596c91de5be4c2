"""Clients of OpenAI's API for Python, unchanged, at a served model.

usage: clients.py BASE_URL MODEL REPLY

Each client must chat, and must show its user why the port refuses a request: an unknown model, and an origin that is
not on the model's allowlist. Prints one line for each client.
"""

import os
import sys

# Otherwise this client fetches a list of prices when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

BASE_URL, MODEL, REPLY = sys.argv[1:]
KEY = "a key that nobody checks"
QUESTION = [{"role": "user", "content": "Hello?"}]
REFUSALS = [
    ("gpt-4o", {}, f"no model `gpt-4o`; served here: {MODEL}"),
    (MODEL, {"Origin": "https://evil.example"}, "the origin of this page is not on the allowlist of this model"),
]


def openai(model, headers):
    from openai import OpenAI

    client = OpenAI(base_url=BASE_URL, api_key=KEY, default_headers=headers, max_retries=0)
    return client.chat.completions.create(model=model, messages=QUESTION).choices[0].message.content


def litellm(model, headers):
    import litellm

    answer = litellm.completion(
        model=f"openai/{model}", messages=QUESTION, api_base=BASE_URL, api_key=KEY, extra_headers=headers, num_retries=0
    )
    return answer.choices[0].message.content


def langchain_openai(model, headers):
    from langchain_openai import ChatOpenAI

    client = ChatOpenAI(model=model, base_url=BASE_URL, api_key=KEY, default_headers=headers, max_retries=0)
    return client.invoke("Hello?").content


def llama_index(model, headers):
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.openai_like import OpenAILike

    client = OpenAILike(
        model=model, api_base=BASE_URL, api_key=KEY, is_chat_model=True, default_headers=headers, max_retries=0
    )
    return client.chat([ChatMessage(role="user", content="Hello?")]).message.content


def check(chat):
    reply = chat(MODEL, {})
    assert reply == REPLY, f"the reply is {reply!r}, not {REPLY!r}"
    for model, headers, why in REFUSALS:
        try:
            reply = chat(model, headers)
        except Exception as error:
            assert why in str(error), f"no `{why}` in: {error!r}"
        else:
            raise AssertionError(f"{model} with {headers} replied {reply!r}")


for chat in (openai, litellm, langchain_openai, llama_index):
    check(chat)
    print(f"{chat.__name__}: chats, and shows why it is refused")
