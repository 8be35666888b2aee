/**
 * Text, thinking and refusals in a reply of the Responses API.
 *
 * OpenAI sends them in deltas and repeats them in the end of their item; some servers send them only there.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json/json.ts";
import type { Citation } from "../../../src/core/messages/content.ts";
import type { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import { readText, textOrEmpty } from "../../kit/stream/wire_values.ts";
import { toCitations } from "../server/citations.ts";
import type { WireItem } from "./wire.ts";

/** Content that deltas have had. */
export interface SeenContent {
  /** Whether there was a message. */
  readonly hasMessage: boolean;
  /** Whether the current reasoning has text. */
  readonly hasThinking: boolean;
}

/** Writes the text and the thinking of one reply. */
export class ReplyText {
  readonly #writer: BlockWriter;
  #refusal = "";
  /** Whether the current part has text. */
  #partHasText = false;
  /** Whether the current message has text. */
  #messageHasText = false;
  #hasMessage = false;
  #hasThinking = false;
  /** Annotations of the current message, which its end usually repeats. */
  #annotations: unknown[] = [];

  /** Creates the text of a reply. */
  constructor(writer: BlockWriter) {
    this.#writer = writer;
  }

  /** The refusal of the model; usually empty. */
  get refusal(): string {
    return this.#refusal;
  }

  /** Content that deltas have had. */
  get seen(): SeenContent {
    return { hasMessage: this.#hasMessage, hasThinking: this.#hasThinking };
  }

  /** Appends text of a message. */
  append(text: unknown): void {
    this.#partHasText = true;
    this.#messageHasText = true;
    this.#hasMessage = true;
    this.#writer.writeText(readText(text));
  }

  /** Ends a part of a message; some servers send its text only now. */
  endPart(text: unknown): void {
    if (!this.#partHasText) this.append(text);
    this.#partHasText = false;
  }

  /** Appends thinking. */
  appendThinking(text: unknown): void {
    this.#hasThinking = true;
    this.#writer.writeThinking(readText(text));
  }

  /** Appends to the refusal. */
  appendRefusal(text: unknown): void {
    this.#refusal += readText(text);
  }

  /** Ends the refusal; some servers send its text only now. */
  endRefusal(text: unknown): void {
    this.#refusal ||= readText(text);
  }

  /** Adds an annotation of the current message. */
  addAnnotation(annotation: unknown): void {
    this.#annotations.push(annotation);
  }

  /** Treats content that deltas without the end of an item have had as that of the next item. */
  assumeSeen({ hasMessage, hasThinking }: SeenContent): void {
    this.#messageHasText ||= hasMessage;
    this.#hasThinking ||= hasThinking;
  }

  /** Ends a message. */
  closeMessage({ phase, content }: WireItem): void {
    this.#hasMessage = true;
    const parts = toParts(content);
    if (!this.#messageHasText) this.#appendParts(parts);
    this.#messageHasText = false;
    this.#partHasText = false;
    const inParts = parts.flatMap(({ annotations }) => toCitations(annotations));
    this.#close(inParts, textOrEmpty(phase) || undefined);
  }

  /** Ends reasoning. */
  closeReasoning({ summary, content }: WireItem): void {
    if (!this.#hasThinking) {
      const parts = toParts(toParts(summary).length > 0 ? summary : content);
      this.#writer.writeThinking(parts.map(({ text }) => readText(text)).join("\n\n"));
    }
    this.#hasThinking = false;
    this.#writer.closeTextOrThinking();
  }

  /** Ends a message whose end was not sent, if it has annotations. */
  end(): void {
    if (this.#annotations.length > 0) this.#close([]);
  }

  #appendParts(parts: readonly JsonObject[]): void {
    for (const { text, refusal } of parts) {
      this.#writer.writeText(readText(text));
      // The deltas of a refusal repeat it.
      this.endRefusal(refusal);
    }
  }

  /** Closes the text of a message; without citations in its parts, with those of the events. */
  #close(inParts: readonly Citation[], signature?: string): void {
    const citations = inParts.length > 0 ? inParts : toCitations(this.#annotations);
    this.#annotations = [];
    if (citations.length > 0) this.#writer.closeText({ signature, citations });
    else if (signature !== undefined) this.#writer.closeText({ signature });
    else this.#writer.closeTextOrThinking();
  }
}

/** Returns the parts of a message or of reasoning. */
function toParts(content: unknown): readonly JsonObject[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}
