/**
 * Adapts the content of a conversation to what a provider accepts.
 *
 * @module
 */

import type { ContentBlock, ImageSource } from "../../../src/core/messages/content.ts";
import type { LlmMessage } from "../../../src/core/messages/message.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { isUsualBase64 } from "./base64_text.ts";
import type { ContentAbilities, MediaAbility } from "./content_abilities.ts";
import { hasValidArguments, isOwnReply, isReplyBlock } from "./history.ts";
import {
  hasValidCitations,
  hasValidItem,
  hasValidSignature,
  isForeignItem,
  type ReplayRules,
} from "./replay_rules.ts";
import type { WarningSink } from "./warnings.ts";

/** Matches the images that all models with vision accept. */
export const COMMON_IMAGES = /^image\/(?:png|jpeg|gif|webp)$/;

/** Matches the URLs of web pages. */
export const WEB_URLS = /^https?:/i;

/**
 * Returns the messages of a request with the content that a provider accepts.
 *
 * Media types and `data:` URLs are normalized. A document of text becomes text where documents are not accepted. Other
 * content that the provider does not accept is replaced by a text, with a warning. Items, signatures and citations of
 * replies that do not have the form of the provider, and results of server tools of other models, are omitted with a
 * warning, and arguments that are no object become an empty one.
 *
 * @throws {BadRequestError} When a file was not read.
 */
export async function adaptContent(
  { model, context: { messages } }: StreamRequest,
  abilities: ContentAbilities,
  sink: WarningSink,
): Promise<readonly LlmMessage[]> {
  if (messages.every((message) => isAccepted(message, model, abilities))) return messages;
  const { ContentAdapter } = await import("./content_adapter.ts");
  return new ContentAdapter(model, abilities).adapt(messages, sink);
}

function isAccepted(message: LlmMessage, model: ModelSpec, abilities: ContentAbilities): boolean {
  if (message.role === "assistant") {
    const rules = isOwnReply(message, model) ? abilities.replies : undefined;
    return message.content.every((block) => isAcceptedReply(block, rules));
  }
  return message.content.every((block) =>
    block.type === "text" || isAcceptedImage(block, abilities.image)
  );
}

function isAcceptedReply(block: ContentBlock, rules: ReplayRules | undefined): boolean {
  return isReplyBlock(block) && hasValidArguments(block) && hasValidSignature(block, rules ?? {}) &&
    hasValidCitations(block, rules ?? {}) &&
    (rules ? hasValidItem(block, rules) : !isForeignItem(block));
}

function isAcceptedImage(block: ContentBlock, ability: MediaAbility | undefined): boolean {
  if (block.type !== "image" || !ability) return false;
  const source: ImageSource | undefined = block.source;
  if (source?.type === "url") return ability.urls?.test(source.url) ?? false;
  return source?.type === "base64" && COMMON_IMAGES.test(source.mediaType) &&
    ability.types.test(source.mediaType) && typeof source.data === "string" &&
    isUsualBase64(source.data);
}
