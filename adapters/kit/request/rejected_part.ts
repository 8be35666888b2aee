/**
 * The parts of a request that a provider may reject.
 *
 * @module
 */

import type { AssistantMessage } from "../../../src/core/messages/message.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import type { MediaBlock } from "./media.ts";

/** Codes of warnings about media. */
export const MEDIA_CODES = {
  image: "images_left_out",
  document: "documents_left_out",
  audio: "audio_left_out",
} as const;

/** Names of media in texts that replace them. */
export const MEDIA_NAMES = {
  image: "an image",
  document: "a document",
  audio: "an audio clip",
} as const;

/** The option for summaries of thinking. */
export const SUMMARY = { type: "reasoning_summary" } as const;

/** All images, for a model that accepts none. */
export const ALL_IMAGES = { type: "all_images" } as const;

/** Parts of all requests for a model. */
type ModelPart = typeof SUMMARY | typeof ALL_IMAGES;

/** A part of a request that a provider may reject: of a reply, its thinking, signatures and provider items. */
export type RejectedPart = AssistantMessage | MediaBlock | ModelPart;

/** A warning about content that was left out. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** Why media are suspected. */
export type MediaReason = "file" | "type" | "url" | "base64" | MediaBlock["type"];

/** Content that may be what a provider rejects, with the kind of the content; `number` and `size` are those of all media. */
export interface Suspects {
  readonly reason: "thinking" | "summary" | "vision" | "number" | "size" | MediaReason;
  /** Parts that the error names. */
  readonly named?: readonly RejectedPart[];
  /** Parts to leave out, the most likely ones first. */
  readonly candidates: readonly (readonly RejectedPart[])[];
  /** Creates the warning about parts that are left out. */
  readonly toWarning: (parts: readonly RejectedPart[]) => Warning;
}

/** Whether a request is for replies with summaries of thinking, which is the default. */
export function hasSummary({ model, options }: StreamRequest): boolean {
  return model.thinkingLevel !== "off" && options.reasoningSummary !== "off";
}
