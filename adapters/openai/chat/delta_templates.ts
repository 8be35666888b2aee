/**
 * Shortcut for the chunks with text and arguments, which are most chunks of a stream.
 *
 * @module
 */

import { DeltaTemplate } from "../../kit/stream/delta_template.ts";
import type { ReplyContent } from "./reply_content.ts";
import type { WireChunk, WireDelta } from "./wire.ts";

/** Reads chunks that differ from an earlier one in their text or arguments only, without parsing the rest. */
export class DeltaTemplates {
  readonly #text = new DeltaTemplate<WireChunk>(
    "content",
    (chunk) => getOnlyDelta(chunk)?.content,
  );
  readonly #arguments = new DeltaTemplate<WireChunk>(
    "arguments",
    (chunk) => getOnlyDelta(chunk)?.tool_calls?.[0]?.function?.arguments,
  );
  readonly #content: ReplyContent;

  /** Creates templates whose deltas are appended to the content of a reply. */
  constructor(content: ReplyContent) {
    this.#content = content;
  }

  /** Reads a chunk that matches a template, and returns whether it does. */
  read(data: string): boolean {
    return this.#text.read(data) || this.#arguments.read(data);
  }

  /** Makes a chunk with nothing but a delta a template. */
  learn(data: string, chunk: WireChunk): void {
    const { content, tool_calls: calls } = getOnlyDelta(chunk) ?? {};
    if (typeof content === "string" && content !== "") {
      this.#text.learn(data, content, (text) => {
        if (text !== "") this.#content.appendText(text);
      });
    }
    const { index = null, id, function: called } = calls?.[0] ?? {};
    const args = called?.arguments;
    if (typeof args !== "string" || args === "" || id || called?.name) return;
    this.#arguments.learn(data, args, (json) => {
      this.#content.appendCalls([{ index, function: { arguments: json } }]);
    });
  }
}

/** Returns the delta of a chunk that has nothing else: text, or a piece of one call. */
function getOnlyDelta({ usage, x_groq, choices }: WireChunk): WireDelta | undefined {
  const [choice] = choices ?? [];
  if (usage || x_groq || choices?.length !== 1 || !choice?.delta || choice.index) return undefined;
  const { delta, finish_reason, message, error, content_filter_results: filters } = choice;
  if (finish_reason || message || error || filters || choice.usage) return undefined;
  const members = Object.entries(delta).filter(([name, value]) => value && name !== "role");
  const isCall = delta.tool_calls?.length === 1;
  return members.length === 1 && (delta.content || isCall) ? delta : undefined;
}
