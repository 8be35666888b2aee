/**
 * Complete replies, for models that reject a stream with tools: "This model doesn't support tool use in streaming mode."
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import { parseJsonOrUndefined } from "../../src/core/json/parse_json.ts";
import { ResponseSize } from "../kit/stream/event_stream.ts";
import type { EventCodec } from "./event_codec.ts";

/** Creates a `fetch` whose complete replies are event streams, so that they are read as all others. */
export function withWholeReplies(
  fetch: typeof globalThis.fetch,
  codec: EventCodec,
): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!/\/converse(?:$|\?)/.test(`${url}`) || !response?.ok) return response;
    const text = await readText(response);
    const reply = toObject(parseJsonOrUndefined(text));
    const { content } = toObject(toObject(reply["output"])["message"]);
    const headers = new Headers(response.headers);
    for (const name of ["content-length", "content-encoding"]) headers.delete(name);
    // Reported as all responses that are no stream.
    if (!Array.isArray(content)) return new Response(text, { headers });
    headers.set("content-type", "application/vnd.amazon.eventstream");
    const events = toEvents(reply, content).map(([name, payload]) => codec.encode(name, payload));
    return new Response(new Blob(events), { headers });
  };
}

/** @throws {StreamError} If the text is too long. */
async function readText({ body }: Response): Promise<string> {
  const size = new ResponseSize("bedrock");
  const limit = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(bytes, controller) {
      size.add(bytes);
      controller.enqueue(bytes);
    },
  });
  return await new Response(body?.pipeThrough(limit)).text();
}

type Event = readonly [name: string, payload: JsonObject];

/** Returns the events with which a stream would have sent a reply. */
function toEvents(
  { stopReason, usage, trace, serviceTier }: JsonObject,
  content: readonly unknown[],
): Event[] {
  return [
    ["messageStart", { role: "assistant" }],
    ...content.flatMap((block, index) => toBlockEvents(toObject(block), index)),
    ["messageStop", { stopReason }],
    ["metadata", { usage, trace, serviceTier }],
  ];
}

function toBlockEvents(block: JsonObject, contentBlockIndex: number): Event[] {
  const { toolUse, reasoningContent, ...others } = block;
  const createDelta = (delta: JsonObject): Event => [
    "contentBlockDelta",
    { contentBlockIndex, delta },
  ];
  const end: Event = ["contentBlockStop", { contentBlockIndex }];
  if (isJsonObject(toolUse)) {
    const { input = {}, ...start } = toolUse;
    return [
      ["contentBlockStart", { contentBlockIndex, start: { toolUse: start } }],
      createDelta({ toolUse: { input: JSON.stringify(input) } }),
      end,
    ];
  }
  if (!isJsonObject(reasoningContent)) return [createDelta(others), end];
  const { reasoningText, ...redacted } = reasoningContent;
  const parts = Object.entries({ ...toObject(reasoningText), ...redacted });
  return [
    ...parts.map(([name, value]) => createDelta({ reasoningContent: { [name]: value } })),
    end,
  ];
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
