/**
 * Divides the text of gpt-oss into thinking, text and tool calls.
 *
 * A reply consists of messages with a header, which has the channel and the tool of a call:
 * `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…`. The prompt has begun the first header.
 * Format: https://github.com/openai/harmony/blob/main/docs/format.md
 *
 * @module
 */

import { JsonObjectEnd } from "./call_reader.ts";
import { Markers, MarkerScanner } from "./marker_scanner.ts";
import type { ReplyPartWriter, ReplyPhase } from "./reply_parser.ts";

/** Options for `new ChannelParser()`. */
export interface ChannelParserOptions {
  /** Whether the request has tools. Without them, a call is text. */
  readonly hasTools: boolean;
  /** Texts that end the reply. */
  readonly stop: readonly string[];
  readonly writer: ReplyPartWriter;
}

const HEADER_END = new Markers(["<|message|>"]);
/** A message ends with the first of them; the others are written by models that leave it out. */
const MESSAGE_ENDS: readonly string[] = ["<|end|>", "<|start|>", "<|channel|>"];
/** Texts that a header begins with, without spaces. A reply with another start is text. */
const HEADER_STARTS: readonly string[] = ["<|start|>", "<|channel|>", "<|constrain|>", "to="];
/** Longest header. */
const MAX_HEADER = 400;
const RECIPIENT = /\bto=(?:functions\.)?([^\s<]+)/;
const ANALYSIS = /<\|channel\|>\s*analysis\b/;

/** Parses one reply. */
export class ChannelParser {
  readonly #options: ChannelParserOptions;
  readonly #scanner = new MarkerScanner();
  readonly #messageEnds = new Markers(MESSAGE_ENDS);
  readonly #textEnds: Markers;
  #phase: ReplyPhase = "start";
  #header = "";
  /** The marker that has ended the last text, until a header follows. */
  #textEnd = "";
  /** The end of the arguments of the call; `undefined` after it. */
  #callEnd: JsonObjectEnd | undefined;
  /** Whether the message has a visible text. */
  #hasText = false;
  /** Whether the last part that was written is text. */
  #isAfterText = false;
  #callCount = 0;

  constructor(options: ChannelParserOptions) {
    this.#options = options;
    this.#textEnds = new Markers([...MESSAGE_ENDS, ...options.stop]);
  }

  /** The part that is being written. */
  get phase(): ReplyPhase {
    return this.#phase;
  }

  /** Number of the tool calls so far. */
  get callCount(): number {
    return this.#callCount;
  }

  /** Number of the texts so far that begin a call. */
  get openedCount(): number {
    return this.#callCount;
  }

  /** A call has no grammar. */
  get isCallBlank(): boolean {
    return false;
  }

  /** Adds a part of the text. */
  add(text: string): void {
    this.#scanner.add(text);
    while (this.#phase !== "stopped" && this.#step());
  }

  /** Handles the end of the text; `isComplete` is whether the model has ended it. */
  end(isComplete: boolean): void {
    const rest = this.#scanner.end();
    switch (this.#phase) {
      case "stopped":
        return;
      case "start":
        this.#header += rest;
        // The header of a message without content is no text.
        if (HEADER_STARTS.some((start) => this.#header.trimStart().startsWith(start))) return;
        this.#phase = "text";
        this.#write(this.#header);
        return;
      case "call":
        this.#write(rest);
        // A call that is not complete stays open, so that the loop reports it as truncated.
        if (isComplete) this.#endCall();
        return;
      default:
        this.#write(rest);
    }
  }

  /** Handles the text up to the next marker; returns whether more can be handled. */
  #step(): boolean {
    return this.#phase === "start" ? this.#readHeader() : this.#readMessage();
  }

  #readHeader(): boolean {
    const { text, marker } = this.#scanner.scan(HEADER_END);
    this.#header += text;
    if (!isHeaderStart(this.#header) || this.#header.length > MAX_HEADER) {
      this.#continueText(marker);
    } else if (marker === undefined) {
      return false;
    } else {
      this.#startMessage(this.#header);
    }
    this.#header = "";
    this.#textEnd = "";
    return true;
  }

  /** Handles a text that is no header: the marker before it is text, too. */
  #continueText(marker = ""): void {
    const start = HEADER_STARTS.find((text) => this.#header.startsWith(text)) ?? "";
    this.#phase = "text";
    this.#write(this.#textEnd + start);
    this.#scanner.restore(this.#header.slice(start.length) + marker);
  }

  #startMessage(header: string): void {
    // A model may give up a malformed header, and begin another one.
    const last = header.slice(Math.max(0, header.lastIndexOf("<|start|>")));
    const [, name = ""] = RECIPIENT.exec(last) ?? [];
    this.#hasText = false;
    if (name !== "" && name !== "assistant" && this.#options.hasTools) {
      this.#phase = "call";
      this.#callEnd = new JsonObjectEnd();
      this.#isAfterText = false;
      this.#callCount++;
      this.#options.writer.open(name);
    } else {
      this.#phase = ANALYSIS.test(last) ? "thinking" : "text";
    }
  }

  #readMessage(): boolean {
    const markers = this.#phase === "text" ? this.#textEnds : this.#messageEnds;
    const { text, marker } = this.#scanner.scan(markers);
    this.#write(text);
    if (marker === undefined) return false;
    if (this.#phase === "text" && this.#options.stop.includes(marker)) {
      this.#phase = "stopped";
      return false;
    }
    // A text of the arguments may contain the marker.
    if (this.#callEnd?.isInString) {
      this.#write(marker);
      return true;
    }
    this.#endCall();
    const isHeader = marker !== "<|end|>";
    this.#header = isHeader ? marker : "";
    this.#textEnd = isHeader || this.#phase !== "text" ? "" : marker;
    this.#phase = "start";
    return true;
  }

  #endCall(): void {
    if (this.#callEnd) this.#options.writer.close();
    this.#callEnd = undefined;
  }

  #write(text: string): void {
    const { writer } = this.#options;
    if (this.#phase === "call") return this.#writeArguments(text);
    const visible = this.#hasText ? text : text.trimStart();
    if (visible === "") return;
    if (this.#phase === "thinking") writer.writeThinking(visible);
    else writer.writeText(this.#isAfterText && !this.#hasText ? `\n\n${visible}` : visible);
    this.#isAfterText = this.#phase === "text";
    this.#hasText = true;
  }

  #writeArguments(text: string): void {
    const { writer } = this.#options;
    if (!this.#callEnd || text === "") return;
    const length = this.#callEnd.find(text);
    writer.writeArguments(length === undefined ? text : text.slice(0, length));
    if (length !== undefined) this.#endCall();
  }
}

/** Whether a text is a header, or the start of one. */
function isHeaderStart(text: string): boolean {
  const start = text.trimStart();
  return HEADER_STARTS.some((header) => header.startsWith(start) || start.startsWith(header));
}
