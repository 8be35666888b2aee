/**
 * The messages of AI SDK UI, and the chunks of the stream that builds them.
 *
 * @module
 */

/** Metadata by name of the provider; that of this library has the name `swink`. */
export type UiProviderMetadata = Record<string, Record<string, UiJson>>;

/** A JSON value. */
export type UiJson = null | string | number | boolean | UiJson[] | { [name: string]: UiJson };

/** Text. */
export type UiTextPart = {
  type: "text";
  /** The text. */
  text: string;
  /** Whether more text follows. */
  state?: "streaming" | "done";
};

/** A file: of a user, as a data URL or the URL of a page. */
export type UiFilePart = {
  type: "file";
  /** Media type, such as `"image/png"`. */
  mediaType: string;
  /** Name of the file. */
  filename?: string;
  /** A URL with the protocol `https:`, `http:` or `data:`. */
  url: string;
  /** Ids of the file at providers, by name of the provider. */
  providerReference?: Record<string, string>;
};

/** A tool call, with its result when it has one. */
export type UiToolPart =
  & {
    type: `tool-${string}`;
    /** Id of the call. */
    toolCallId: string;
  }
  & (
    | { state: "input-available"; input: unknown }
    | { state: "approval-requested"; input: unknown; approval: { id: string } }
    | {
      state: "approval-responded";
      input: unknown;
      approval: { id: string; approved: boolean; isAutomatic?: true };
    }
    | {
      state: "output-available";
      input: unknown;
      /** The `details` of the result, or its text if it has none. */
      output: unknown;
      resultProviderMetadata?: UiProviderMetadata;
    }
    | { state: "output-error"; input: unknown; errorText: string }
  );

/** A part of a message. */
export type UiPart =
  | UiTextPart
  | UiFilePart
  | UiToolPart
  | { type: "reasoning"; text: string; state?: "streaming" | "done" }
  | { type: "source-url"; sourceId: string; url: string; title?: string }
  | { type: "step-start" };

/** A message; an answer of several turns is one message. Fits the type `UIMessage` of the AI SDK. */
export type UiMessage = {
  /** Id of the message. */
  id: string;
  /** Who has written it. */
  role: "user" | "assistant";
  /** Data of the application. */
  metadata?: unknown;
  /** The parts, in order. */
  parts: UiPart[];
};

/** Reason for the end of an answer. The page does not continue an `interrupted` one by itself. */
export type UiFinishReason = "stop" | "length" | "tool-calls" | "interrupted" | "other";

/** One event of the stream that builds a message. */
export type UiMessageChunk =
  | { type: "start"; messageId?: string }
  | { type: "start-step" }
  | { type: "reset-step" }
  | { type: "finish-step" }
  | { type: "finish"; finishReason: UiFinishReason; messageMetadata?: unknown }
  | { type: "abort"; reason?: string }
  | { type: "error"; errorText: string }
  | { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "tool-input-start"; toolCallId: string; toolName: string }
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | { type: "tool-input-available"; toolCallId: string; toolName: string; input: unknown }
  | {
    type: "tool-input-error";
    toolCallId: string;
    toolName: string;
    input: unknown;
    errorText: string;
  }
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string; isAutomatic?: true }
  | { type: "tool-approval-response"; approvalId: string; approved: boolean; reason?: string }
  | {
    type: "tool-output-available";
    toolCallId: string;
    output: unknown;
    preliminary?: true;
    providerMetadata?: UiProviderMetadata;
  }
  | { type: "tool-output-error"; toolCallId: string; errorText: string }
  | { type: "tool-output-denied"; toolCallId: string }
  | { type: "source-url"; sourceId: string; url: string; title?: string }
  | { type: "steering-message"; id: string; parts: (UiTextPart | UiFilePart)[] }
  | { type: `data-${string}`; data: unknown; transient?: true };
