import { classifyStreamError, type ErrorOrigin } from "../../../adapters/kit/errors/classify.ts";
import type { ReplyReader } from "../../../adapters/kit/stream/event_stream.ts";
import { countOrZero, textOrEmpty } from "../../../adapters/kit/stream/wire_values.ts";
import type { BlockWriter } from "../../../src/core/block_writer.ts";
import type { Usage } from "../../../src/core/usage.ts";

/** What Acme sends. */
type AcmeEvent =
  | { readonly say: string }
  | { readonly call: { readonly id: string; readonly name: string; readonly args: object } }
  | { readonly error: unknown }
  | { readonly end: "done" | "limit"; readonly read: number; readonly wrote: number };

/** Reads Acme's events into a reply. */
export class AcmeReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  #hasToolCall = false;

  constructor(writer: BlockWriter, origin: ErrorOrigin) {
    this.#writer = writer;
    this.#origin = origin;
  }

  read(data: string): void {
    const event: AcmeEvent = JSON.parse(data);
    if ("say" in event) return this.#writer.writeText(textOrEmpty(event.say));
    if ("error" in event) throw classifyStreamError(event, this.#origin);
    if ("call" in event) {
      const { id, name, args } = event.call;
      this.#hasToolCall = true;
      return this.#writer.writeToolCall(textOrEmpty(id), textOrEmpty(name), JSON.stringify(args));
    }
    const usage = toUsage(countOrZero(event.read), countOrZero(event.wrote));
    if (event.end === "limit") return this.#writer.finish({ stopReason: "length", usage });
    this.#writer.finish({ stopReason: this.#hasToolCall ? "tool_use" : "stop", usage });
  }
}

function toUsage(input: number, output: number): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
}
