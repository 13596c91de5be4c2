// The client of OpenAI's API for Node, unchanged, at a served model.
//
// usage: node client.mjs PACKAGE BASE_URL MODEL REPLY
//
// It must chat, and must show its user why the port refuses a request: an unknown model, and an origin that is not on
// the model's allowlist.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [folder, baseURL, model, reply] = process.argv.slice(2);
const { OpenAI } = createRequire(folder + "/")("openai");
const messages = [{ role: "user", content: "Hello?" }];

async function chat(model, defaultHeaders) {
  const client = new OpenAI({ baseURL, apiKey: "a key that nobody checks", defaultHeaders, maxRetries: 0 });
  const answer = await client.chat.completions.create({ model, messages });
  return answer.choices[0].message.content;
}

assert.equal(await chat(model, {}), reply);
for (const [name, headers, why] of [
  ["gpt-4o", {}, `no model \`gpt-4o\`; served here: ${model}`],
  [model, { origin: "https://evil.example" }, "the origin of this page is not on the allowlist of this model"],
]) {
  await assert.rejects(chat(name, headers), (error) => {
    assert.ok(error.message.includes(why), `no \`${why}\` in: ${error.message}`);
    return true;
  });
}
console.log("openai for Node: chats, and shows why it is refused");
