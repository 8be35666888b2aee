/**
 * Names of the events, blocks and reasons in the official SDKs' types of replies.
 *
 * @module
 */

import type {
  BetaContentBlock,
  BetaRawContentBlockDelta,
  BetaRawMessageStreamEvent,
  BetaStopReason,
} from "@anthropic-ai/sdk/resources/beta/messages";
import type {
  ContentBlockDelta,
  ContentBlockStart,
  ConverseStreamOutput,
  StopReason,
} from "@aws-sdk/client-bedrock-runtime";
import type { BlockedReason, FinishReason, Part } from "@google/genai";
import type {
  CompletionResponseStreamChoiceFinishReason,
  ContentChunk,
  OutputContentChunks,
} from "@mistralai/mistralai/models/components";
import type { ChatResponse } from "ollama";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type {
  ResponseOutputItem,
  ResponseStatus,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";

/** The member names of all objects in a union. */
type MemberName<Union> = Union extends unknown ? Exclude<keyof Union, "$unknown">
  : never;

/** The known texts of a union that is open. */
type KnownName<Union> = Union extends string
  ? string extends Union ? never : Lowercase<Union> extends Union ? Union : never
  : never;

/** Names by the type that has them. */
export interface ReplyNames {
  "anthropic events": BetaRawMessageStreamEvent["type"];
  "anthropic blocks": BetaContentBlock["type"];
  "anthropic deltas": BetaRawContentBlockDelta["type"];
  "anthropic stop reasons": BetaStopReason;
  "chat deltas": keyof ChatCompletionChunk.Choice.Delta;
  "chat finish reasons": NonNullable<ChatCompletionChunk.Choice["finish_reason"]>;
  "responses events": ResponseStreamEvent["type"];
  "responses items": ResponseOutputItem["type"];
  "responses statuses": ResponseStatus;
  "google parts": keyof Part;
  "google finish reasons": `${FinishReason}`;
  "google blocked reasons": `${BlockedReason}`;
  "mistral content": KnownName<NonNullable<(ContentChunk | OutputContentChunks)["type"]>>;
  "mistral finish reasons": KnownName<CompletionResponseStreamChoiceFinishReason>;
  "bedrock events": MemberName<ConverseStreamOutput>;
  "bedrock blocks": MemberName<ContentBlockStart>;
  "bedrock deltas": MemberName<ContentBlockDelta>;
  "bedrock stop reasons": StopReason;
  "ollama messages": keyof ChatResponse["message"];
}

/** A table with exactly the names of each type. */
export type ReplyTable = {
  readonly [Kind in keyof ReplyNames]: Readonly<Record<ReplyNames[Kind], string>>;
};
