import type { Usage } from "@swink/agent";
import {
  type BlockWriter,
  classifyStreamError,
  countOrZero,
  type ErrorOrigin,
  type ProviderCall,
  readText,
  type ReplyReader,
  textOrEmpty,
  toArgumentsText,
} from "@swink/agent/adapters/kit";

/** An event of Acme's stream. */
type AcmeEvent =
  | { readonly text: string }
  | { readonly call: { readonly id: string; readonly name: string; readonly args: object } }
  | { readonly error: unknown }
  | { readonly end: "done" | "limit"; readonly input: number; readonly output: number };

/** Turns Acme's events into a reply. */
export class AcmeReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #decodeToolName: (name: string) => string;
  #hasToolCall = false;

  constructor({ writer, origin, decodeToolName }: ProviderCall) {
    this.#writer = writer;
    this.#origin = origin;
    this.#decodeToolName = decodeToolName;
  }

  read(data: string): void {
    const event: AcmeEvent = JSON.parse(data);
    if ("text" in event) return this.#writer.writeText(readText(event.text));
    if ("error" in event) throw classifyStreamError(event, this.#origin);
    if ("call" in event) {
      const { id, name, args } = event.call;
      this.#hasToolCall = true;
      const toolName = this.#decodeToolName(readText(name));
      return this.#writer.writeToolCall(textOrEmpty(id), toolName, toArgumentsText(args, data));
    }
    const usage = toUsage(countOrZero(event.input), countOrZero(event.output));
    if (event.end === "limit") return this.#writer.finish({ stopReason: "length", usage });
    this.#writer.finish({ stopReason: this.#hasToolCall ? "tool_use" : "stop", usage });
  }
}

function toUsage(input: number, output: number): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
}
