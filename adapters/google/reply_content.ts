/**
 * Content of a reply of Google.
 *
 * @module
 */

import type { Citation } from "../../src/core/messages/content.ts";
import type { BlockWriter } from "../../src/core/streams/block_writer.ts";
import type { ProviderCall } from "../kit/provider.ts";
import type { UnknownParts } from "../kit/stream/unknown_parts.ts";
import { readObject, readText, textOrEmpty } from "../kit/stream/wire_values.ts";
import { GoogleCallAssembler } from "./calls.ts";
import { GOOGLE_PART, type WirePart } from "./wire.ts";

/** The end of a reply. */
interface ContentEnd {
  /** Whether the token limit cut off the reply. */
  readonly isTruncated: boolean;
  /** The sources of the reply, which come with the last chunk. */
  readonly citations: readonly Citation[];
}

/** Writes the content of one reply, part by part. */
export class ReplyContent {
  readonly #writer: BlockWriter;
  readonly #calls: GoogleCallAssembler;
  #textSignature: string | undefined;
  /** Whether there is text or an item of the provider, rather than only thinking and calls. */
  #hasContent = false;

  /** Creates the content of the reply to a call. */
  constructor(call: ProviderCall, unknown: UnknownParts) {
    this.#writer = call.writer;
    this.#calls = new GoogleCallAssembler(call, unknown);
  }

  /** Whether the reply has a call of a tool. */
  get hasCalls(): boolean {
    return this.#calls.hasCalls;
  }

  /** Whether the reply has nothing but thinking. */
  get isEmpty(): boolean {
    return !this.#hasContent && !this.hasCalls;
  }

  /** Appends a part; `json` is the text of its event. */
  append(part: WirePart, json: string): void {
    const call = readObject(readObject(part)?.functionCall);
    if (call) {
      this.#endText();
      this.#calls.append(call, { part, json });
    } else if (isProviderPart(part)) {
      this.#endText();
      this.#hasContent = true;
      this.#writer.writeExtension(GOOGLE_PART, part);
    } else if (part.thought) {
      this.#endText();
      this.#appendThinking(part);
    } else {
      this.#appendText(part);
    }
  }

  /** Ends the text and the calls. */
  end({ isTruncated, citations }: ContentEnd): void {
    this.#endText(citations);
    this.#calls.end({ wasCut: isTruncated });
  }

  #appendThinking({ text, thoughtSignature }: WirePart): void {
    this.#writer.writeThinking(readText(text));
    const signature = textOrEmpty(thoughtSignature);
    if (signature !== "") this.#writer.closeThinking({ signature });
  }

  #appendText({ text: wireText, thoughtSignature }: WirePart): void {
    const text = readText(wireText);
    this.#hasContent ||= text !== "";
    this.#writer.writeText(text);
    this.#textSignature = textOrEmpty(thoughtSignature) || this.#textSignature;
  }

  /** Closes text with a signature, which may come with any part of the text or after it, or with sources. */
  #endText(citations: readonly Citation[] = []): void {
    const signature = this.#textSignature;
    this.#textSignature = undefined;
    if (citations.length > 0) this.#writer.closeText({ signature, citations });
    else if (signature !== undefined) this.#writer.closeText({ signature });
  }
}

/** Members of a part that is text or thinking, or only a signature. */
const TEXT_MEMBERS = ["text", "thought", "thoughtSignature", "partMetadata"];

/** Whether a part has text or other content, rather than only a signature. */
export function isContent(part: WirePart): boolean {
  return Boolean(part.text) || isProviderPart(part);
}

/** Whether a part has other content than text, such as an image. */
function isProviderPart(part: WirePart): boolean {
  if (part.text) return false;
  return Object.entries(part).some(([name, value]) => value && !TEXT_MEMBERS.includes(name));
}
