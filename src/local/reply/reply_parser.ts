/**
 * Divides the text of a model into thinking, text and tool calls.
 *
 * @module
 */

import type { ToolSpec } from "../../core/streams/stream.ts";
import type { CallFormat } from "../prompt/call_format.ts";
import { THINKING_TAGS } from "../prompt/thinking_tags.ts";
import { CallReader, type CallWriter, JsonObjectEnd } from "./call_reader.ts";
import {
  findCalledTool,
  FUNCTION_CLOSE,
  FUNCTION_OPEN,
  hasParameter,
  isInParameter,
  parseFunctionCall,
} from "./function_call.ts";
import { Markers, MarkerScanner } from "./marker_scanner.ts";
import { ThoughtCalls } from "./thought_calls.ts";

/** Receives the parts of a reply. */
export interface ReplyPartWriter extends CallWriter {
  /** A part of the text. */
  writeText(text: string): void;
  /** A part of the thinking. */
  writeThinking(text: string): void;
}

/** Options for `new ReplyParser()`. */
export interface ReplyParserOptions {
  /** The end of the prompt, which may begin the thinking. */
  readonly replyStart: string;
  /** How the model writes tool calls; `undefined` if it cannot call tools. */
  readonly callFormat: CallFormat | undefined;
  /** The tools. A reply that is an object with another name and without arguments is text. */
  readonly tools?: readonly ToolSpec[];
  /** Texts that end the reply. */
  readonly stop: readonly string[];
  readonly writer: ReplyPartWriter;
}

/** The part of a reply that is being written. */
export type ReplyPhase = "start" | "thinking" | "text" | "call" | "stopped";

const NO_MARKERS = new Markers([]);
const FUNCTION_END = new Markers([FUNCTION_CLOSE]);
const OPEN_TAGS = THINKING_TAGS.map(([open]) => open);

/** Text before a call that Llama 3.1 writes in some replies, and the one between two calls. */
const BARE_CALL_PREFIXES = ["", "<|python_tag|>", ";"];
const BARE_CALL_PREFIX = /^\s*(?:<\|python_tag\|>|;)/;
/** Starts of a call that is the whole reply, without spaces. */
const BARE_CALL_STARTS: readonly string[] = ['{"name"', '{"type":"function","name"']
  .flatMap((start) => BARE_CALL_PREFIXES.map((prefix) => prefix + start));
/** Longest text, with spaces, that can be the start of such a call. */
const MAX_BARE_START = 200;
/** Texts after the tag of a call that distinguish one from a mention of the tag. */
const CALL_STARTS: readonly string[] = ['{"name"', '\n{"name"'];
const FUNCTION_STARTS: readonly string[] = [FUNCTION_OPEN, `\n${FUNCTION_OPEN}`];
/** Longest text between the start of a call and its arguments. */
const MAX_NAME = 200;
/** The id after the name of a tool, which the program does not need. */
const CALL_ID = /\[CALL_ID\].*$/s;
/** The text before a call of a list, or its end. */
const LIST_PART = /^[\s[,]*\]?/;

/** Parses one reply. */
export class ReplyParser {
  readonly #options: ReplyParserOptions;
  readonly #scanner = new MarkerScanner();
  readonly #startMarkers: Markers;
  readonly #textMarkers: Markers;
  readonly #callEndMarkers: Markers;
  readonly #argumentsMarkers: Markers;
  #phase: ReplyPhase = "start";
  /** Ends the thinking. */
  #closeTag = "";
  /** The end of the thinking, and calls within it. */
  #thinkingMarkers = NO_MARKERS;
  /** The end of a call in the thinking, and that of the thinking. */
  #thoughtCallEnds = NO_MARKERS;
  /** Calls in the thinking, after which the reply has no other text yet. */
  #thoughtCalls: ThoughtCalls | undefined;
  #call: CallReader | undefined;
  /** Finds the end of a call that ends with its object. */
  #callEnd: JsonObjectEnd | undefined;
  /** The text before the arguments of a call that begins with the name of its tool, until they begin. */
  #name: string | undefined;
  /** The text after `<function=`, while such a call is read. */
  #function: string | undefined;
  /** Whether nothing follows such a call yet. */
  #isAfterFunction = false;
  #hasText = false;
  #callCount = 0;
  #openedCount = 0;

  constructor(options: ReplyParserOptions) {
    this.#options = options;
    const { callFormat, stop } = options;
    const opens = callFormat && callFormat.open !== "" ? [callFormat.open] : [];
    const functions = callFormat?.hasFunctions ? [FUNCTION_OPEN, callFormat.close] : [];
    this.#textMarkers = new Markers([...opens, ...functions, ...stop]);
    this.#startMarkers = new Markers([...OPEN_TAGS, ...this.#textMarkers.texts]);
    this.#callEndMarkers = callFormat ? new Markers([callFormat.close]) : NO_MARKERS;
    this.#argumentsMarkers = new Markers([callFormat?.argumentsOpen ?? ""].filter(Boolean));
    const start = options.replyStart.trimEnd();
    const tags = THINKING_TAGS.find(([open]) => start.endsWith(open));
    if (tags) this.#startThinking(tags[0]);
  }

  /** The part that is being written. */
  get phase(): ReplyPhase {
    return this.#phase;
  }

  /** Number of the tool calls so far. */
  get callCount(): number {
    return this.#callCount;
  }

  /** Number of the texts so far that begin a call, or a list of calls. */
  get openedCount(): number {
    return this.#openedCount;
  }

  /** Whether the call that has begun has no text yet, so that a grammar can begin with the next token. */
  get isCallBlank(): boolean {
    const name = this.#name ?? "";
    return this.#scanner.length === 0 && name.trim() === "" && this.#call?.isBlank === true;
  }

  /** Adds a part of the text. */
  add(text: string): void {
    this.#scanner.add(text);
    while (this.#phase !== "stopped" && this.#step());
  }

  /** Handles the end of the text; `isComplete` is whether the model has ended it. */
  end(isComplete: boolean): void {
    if (this.#phase === "stopped") return;
    if (this.#thoughtCalls) this.#endThoughtCalls(this.#thoughtCalls, isComplete);
    if (this.#name !== undefined) this.#leaveName(this.#name + this.#scanner.end());
    const rest = this.#scanner.end();
    if (this.#function !== undefined) return this.#endFunction(this.#function + rest, isComplete);
    if (this.#phase === "call") return this.#endCall(rest, isComplete);
    this.#write(rest);
  }

  /** Handles the text up to the next marker; returns whether more can be handled. */
  #step(): boolean {
    switch (this.#phase) {
      case "start":
        return this.#readStart();
      case "thinking":
        return this.#readThinking();
      case "text":
        return this.#readText();
      default:
        return this.#readCall();
    }
  }

  /** Thinking can only be the first part of a reply. */
  #readStart(): boolean {
    const { text, marker } = this.#scanner.scan(this.#startMarkers);
    if (text.trim() !== "") {
      if (this.#canBeBareCall(text)) return this.#readBareStart(text, marker);
      this.#phase = "text";
      this.#write(text.trimStart());
      return marker !== undefined && this.#handleTextMarker(marker);
    }
    if (marker === undefined) return false;
    if (OPEN_TAGS.includes(marker)) return this.#startThinking(marker);
    return this.#handleTextMarker(marker);
  }

  #startThinking(open: string): boolean {
    this.#phase = "thinking";
    const [, close = ""] = THINKING_TAGS.find((pair) => pair[0] === open) ?? [];
    const { callFormat } = this.#options;
    const functions = callFormat?.hasFunctions ? FUNCTION_STARTS : [];
    const calls = callFormat?.open.startsWith("<") ? [...CALL_STARTS, ...functions] : [];
    this.#closeTag = close;
    this.#thoughtCallEnds = new Markers([...this.#callEndMarkers.texts, close]);
    this.#thinkingMarkers = new Markers([
      close,
      ...calls.map((start) => `${callFormat?.open}${start}`),
    ]);
    return true;
  }

  #readThinking(): boolean {
    if (this.#thoughtCalls) return this.#readThoughtCalls(this.#thoughtCalls);
    const { text, marker } = this.#scanner.scan(this.#thinkingMarkers);
    this.#write(text);
    if (marker === undefined) return false;
    if (marker === this.#closeTag) return this.#endThinking();
    this.#thoughtCalls = new ThoughtCalls();
    this.#thoughtCalls.open(marker);
    return true;
  }

  #endThinking(): boolean {
    this.#phase = "text";
    this.#hasText = false;
    return true;
  }

  #readThoughtCalls(calls: ThoughtCalls): boolean {
    if (calls.isComplete) return this.#readAfterThoughtCall(calls);
    const { text, marker } = this.#scanner.scan(this.#thoughtCallEnds);
    calls.add(text);
    if (marker === undefined) return false;
    if (marker !== this.#closeTag || calls.isInValue) {
      calls.close(marker);
      return true;
    }
    // A call without its end is a part of the thinking.
    this.#flushThoughtCalls();
    return this.#endThinking();
  }

  /** Reads the text after a call in the thinking, up to the next call or the end of the thinking. */
  #readAfterThoughtCall(calls: ThoughtCalls): boolean {
    const text = this.#scanner.end();
    const start = text.trimStart();
    const marker = this.#thinkingMarkers.texts.find((marker) => start.startsWith(marker));
    if (marker === undefined) {
      const isOpen = this.#thinkingMarkers.texts.some((marker) => marker.startsWith(start));
      this.#scanner.restore(text);
      // With another text, the calls are a part of the thinking.
      if (!isOpen) this.#flushThoughtCalls();
      return !isOpen;
    }
    this.#scanner.restore(start.slice(marker.length));
    if (marker === this.#closeTag) return this.#endThinking();
    calls.open(text.slice(0, text.length - start.length) + marker);
    return true;
  }

  /** Reads the calls at the end of the reply, unless the thinking could have continued. */
  #endThoughtCalls(calls: ThoughtCalls, isComplete: boolean): void {
    const rest = this.#scanner.end();
    const isLast = !calls.isComplete || isComplete && rest.trim() === "";
    if (isLast) {
      this.#thoughtCalls = undefined;
      this.#endThinking();
      this.add(calls.text + rest);
    } else {
      this.#flushThoughtCalls();
      this.#write(rest);
    }
  }

  /** Writes calls in the thinking as a part of it. */
  #flushThoughtCalls(): void {
    const { text = "" } = this.#thoughtCalls ?? {};
    this.#thoughtCalls = undefined;
    if (text !== "") this.#options.writer.writeThinking(text);
  }

  #readText(): boolean {
    const { text, marker } = this.#scanner.scan(this.#textMarkers);
    if (!this.#hasText && this.#canBeBareCall(text)) return this.#readBareStart(text, marker);
    this.#write(text);
    return marker !== undefined && this.#handleTextMarker(marker);
  }

  /** Handles a marker of the text: the start of a call, or the end of the reply. */
  #handleTextMarker(marker: string): boolean {
    const { callFormat, stop } = this.#options;
    this.#flushThoughtCalls();
    if (stop.includes(marker)) {
      this.#phase = "stopped";
      return false;
    }
    if (marker === FUNCTION_OPEN) {
      this.#openedCount++;
      this.#startFunction();
      return true;
    }
    if (marker === callFormat?.close && this.#isAfterFunction) return true;
    // A tag of thinking in the middle of a text is text.
    if (marker !== callFormat?.open) {
      this.#phase = "text";
      this.#write(marker);
      return true;
    }
    this.#openedCount++;
    this.#startCall();
    return true;
  }

  #canBeBareCall(text: string): boolean {
    if (this.#options.callFormat?.open !== "") return false;
    const start = removeSpaces(text);
    return start !== "" &&
      BARE_CALL_STARTS.some((call) => start.startsWith(call) || call.startsWith(start));
  }

  /** Starts a call, or waits for the rest of its start, which has several tokens. */
  #readBareStart(text: string, marker = ""): boolean {
    const start = removeSpaces(text);
    const isCall = BARE_CALL_STARTS.some((call) => start.startsWith(call));
    if (!isCall && (marker !== "" || text.length > MAX_BARE_START)) {
      this.#phase = "text";
      this.#write(text);
      return marker !== "" && this.#handleTextMarker(marker);
    }
    if (isCall) this.#startCall();
    this.#scanner.restore((isCall ? text.replace(BARE_CALL_PREFIX, "") : text) + marker);
    return isCall;
  }

  #startCall(): void {
    const { writer, callFormat, tools } = this.#options;
    this.#phase = "call";
    const names = tools?.map(({ name }) => name);
    this.#call = new CallReader(writer, callFormat?.open === "" ? names : undefined);
    this.#callEnd = callFormat?.close === "" ? new JsonObjectEnd() : undefined;
    this.#name = callFormat?.argumentsOpen === undefined ? undefined : "";
  }

  #readCall(): boolean {
    if (this.#function !== undefined) return this.#readFunction(this.#function);
    if (this.#name !== undefined) return this.#readName(this.#name);
    if (this.#callEnd) return this.#readObjectCall(this.#callEnd);
    if (this.#canBeFunction()) return this.#readFunctionStart();
    const { text, marker } = this.#scanner.scan(this.#callEndMarkers);
    this.#call?.add(text);
    if (marker === undefined) return false;
    // A text of the arguments may contain the tag.
    if (this.#call?.isInString) this.#call.add(marker);
    else this.#finishCall();
    return true;
  }

  /** Reads the name of a tool, up to the arguments. */
  #readName(start: string): boolean {
    const { argumentsName } = this.#options.callFormat ?? {};
    const { text, marker } = this.#scanner.scan(this.#argumentsMarkers);
    const name = start + text;
    this.#name = name;
    if (name.length > MAX_NAME) return this.#leaveName(name + (marker ?? ""));
    if (marker === undefined) return false;
    this.#name = undefined;
    const called = JSON.stringify(name.replace(CALL_ID, "").trim());
    this.#call?.add(`{"name": ${called}, "${argumentsName}": `);
    return true;
  }

  /** Continues with a text that has begun like a call. */
  #leaveName(text: string): boolean {
    this.#name = undefined;
    this.#leaveCalls(text);
    this.#write(this.#options.callFormat?.open ?? "");
    return true;
  }

  /** Whether the text of a call begins with the tag of a function, or with its start. */
  #canBeFunction(): boolean {
    if (!this.#options.callFormat?.hasFunctions || !this.#call?.isBlank) return false;
    const text = this.#scanner.end();
    this.#scanner.restore(text);
    const start = text.trimStart();
    return start !== "" && (start.startsWith(FUNCTION_OPEN) || FUNCTION_OPEN.startsWith(start));
  }

  /** Reads the tag of a function, or waits for the rest of it. */
  #readFunctionStart(): boolean {
    const text = this.#scanner.end();
    const start = text.trimStart();
    const isComplete = start.startsWith(FUNCTION_OPEN);
    this.#scanner.restore(isComplete ? start.slice(FUNCTION_OPEN.length) : text);
    if (isComplete) this.#startFunction();
    return isComplete;
  }

  #startFunction(): void {
    this.#phase = "call";
    this.#call = undefined;
    this.#function = "";
  }

  #readFunction(start: string): boolean {
    const { text, marker } = this.#scanner.scan(FUNCTION_END);
    const call = start + text;
    this.#function = call;
    if (marker === undefined) return false;
    if (isInParameter(call)) this.#function += marker;
    else this.#finishFunction(call, marker);
    return true;
  }

  /** Writes a call, or its text if it is none. */
  #finishFunction(text: string, end: string): void {
    const { writer, tools = [] } = this.#options;
    const call = parseFunctionCall(text, tools);
    this.#function = undefined;
    this.#phase = "text";
    if (!call) return this.#writeFunction(text + end);
    writer.open(call.name);
    writer.writeArguments(JSON.stringify(call.arguments));
    writer.close();
    this.#callCount++;
    this.#hasText = false;
    this.#isAfterFunction = true;
  }

  /** Writes the text that has begun like a call. */
  #writeFunction(text: string): void {
    this.#phase = "text";
    this.#write(FUNCTION_OPEN + text);
  }

  /** A call that is not complete stays open, as those of other formats. Without a parameter, it may be a description. */
  #endFunction(text: string, isComplete: boolean): void {
    const { writer, tools = [] } = this.#options;
    if (isComplete && hasParameter(text)) return this.#finishFunction(text, "");
    const tool = findCalledTool(text, tools);
    if (isComplete || !tool) return this.#writeFunction(text);
    writer.open(tool.name);
    this.#callCount++;
  }

  /** Reads a call that ends with its object; in a list, the next one follows after a comma. */
  #readObjectCall(callEnd: JsonObjectEnd): boolean {
    const rest = this.#scanner.end();
    const [before = ""] = callEnd.isInside ? [] : LIST_PART.exec(rest) ?? [];
    const text = rest.slice(before.length);
    if (before.endsWith("]")) return this.#leaveCalls(text);
    if (text === "") return false;
    if (!callEnd.isInside && !text.startsWith("{")) return this.#leaveCalls(text);
    const length = callEnd.find(text);
    this.#call?.add(length === undefined ? text : text.slice(0, length));
    if (length === undefined) return false;
    this.#finishCall();
    this.#scanner.add(text.slice(length));
    if (this.#options.callFormat?.isList) this.#startCall();
    return true;
  }

  /** Continues with a text that is no call. */
  #leaveCalls(text: string): boolean {
    this.#call = undefined;
    this.#callEnd = undefined;
    this.#phase = "text";
    this.#hasText = false;
    this.#scanner.restore(text);
    return true;
  }

  #finishCall(): void {
    const text = this.#call?.end();
    if (text === undefined) this.#callCount++;
    this.#call = undefined;
    this.#phase = "text";
    this.#hasText = false;
    if (text !== undefined) this.#write(text);
  }

  /** A call that is not complete stays open, so that the loop reports it as truncated. */
  #endCall(rest: string, isComplete: boolean): void {
    if (this.#callEnd && !this.#callEnd.isInside) return;
    this.#call?.add(rest);
    if (isComplete) return this.#finishCall();
    this.#callCount++;
    // It may be an answer, which has begun with a name.
    if (this.#options.callFormat?.open !== "" || this.#call?.isOpen) return;
    this.#phase = "text";
    this.#write(this.#call?.text ?? "");
  }

  #write(text: string): void {
    const { writer } = this.#options;
    // Templates separate the parts by blank lines.
    const visible = this.#hasText ? text : text.trimStart();
    if (visible === "") return;
    this.#flushThoughtCalls();
    this.#hasText = true;
    this.#isAfterFunction = false;
    if (this.#phase === "thinking") writer.writeThinking(visible);
    else writer.writeText(visible);
  }
}

function removeSpaces(text: string): string {
  return text.slice(0, MAX_BARE_START + 1).replaceAll(/\s/g, "");
}
