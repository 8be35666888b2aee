// Connects a provider that the library does not know: a request, and a reader of its replies.
//
// The kit does the rest: the key, retries of the loop, aborts, timeouts, errors, and secrets in messages.

import { Agent, extractText, type StreamFn } from "@swink/agent";
import { connect } from "@swink/agent/adapters";
import {
  type AdapterOptions,
  createStreamFn,
  readText,
  resolveSettings,
  SseParser,
  zeroUsage,
} from "@swink/agent/adapters/kit";

function createAcme(options: AdapterOptions): StreamFn {
  const settings = resolveSettings(options, "https://api.acme.example");
  return createStreamFn({
    settings,
    apiKey: options.apiKey,
    createParser: () => new SseParser(),
    prepare: ({ request: { model, context } }, key) => ({
      url: `${settings.baseUrl}/chat`,
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify([model.modelId, ...context.messages.map((m) => extractText(m.content))]),
    }),
    createReplyReader: ({ writer }) => ({
      read(data) {
        const { text, done } = JSON.parse(data);
        writer.writeText(readText(text));
        if (done) writer.finish({ stopReason: "stop", usage: zeroUsage() });
      },
    }),
  });
}

// The server of the provider, in place of the network.
const events = 'data: {"text":"Hello "}\n\ndata: {"text":"from Acme","done":true}\n\n';
const headers = { "content-type": "text/event-stream" };
const server: typeof fetch = () => Promise.resolve(new Response(events, { headers }));

const streamFn = connect({ providers: { acme: createAcme({ apiKey: "key", fetch: server }) } });
const agent = new Agent({ model: "acme/acme-1", streamFn });
console.log((await agent.prompt("Hi")).text);

// Prints:
// Hello from Acme
