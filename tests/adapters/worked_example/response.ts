import { classifyStreamError, type ErrorOrigin } from "../../../adapters/kit/errors/classify.ts";
import type { ReplyReader } from "../../../adapters/kit/stream/event_stream.ts";
import { countOf, textOf } from "../../../adapters/kit/stream/wire_values.ts";
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
  #called = false;

  constructor(writer: BlockWriter, origin: ErrorOrigin) {
    this.#writer = writer;
    this.#origin = origin;
  }

  read(data: string): void {
    const event: AcmeEvent = JSON.parse(data);
    if ("say" in event) return this.#writer.text(textOf(event.say));
    if ("error" in event) throw classifyStreamError(event, this.#origin);
    if ("call" in event) {
      const { id, name, args } = event.call;
      this.#called = true;
      return this.#writer.toolCall(textOf(id), textOf(name), JSON.stringify(args));
    }
    const usage = usageOf(countOf(event.read), countOf(event.wrote));
    if (event.end === "limit") return this.#writer.finish({ stopReason: "length", usage });
    this.#writer.finish({ stopReason: this.#called ? "tool_use" : "stop", usage });
  }
}

function usageOf(input: number, output: number): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
}
