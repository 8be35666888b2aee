/**
 * Rules for the parts of earlier replies that only their provider understands.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json/json.ts";
import type { ContentBlock, ExtensionBlock } from "../../../src/core/messages/content.ts";

/** A block with a signature. */
export type SignedBlock = Extract<
  ContentBlock,
  { readonly type: "text" | "thinking" | "tool_call" }
>;

/**
 * Forms in which a provider accepts parts of earlier replies of the requested model. A history from a file or another
 * program may have other forms, with which the provider rejects the conversation.
 */
export interface ReplayRules {
  /** Whether an item has the form in which the provider sends it. Default: none has. */
  readonly isItem?: (block: ExtensionBlock) => boolean;
  /** Whether the provider issues such a signature, given as text. Default: any. */
  readonly isSignature?: (signature: string, block: SignedBlock) => boolean;
  /** Whether the provider's own form of a citation is valid. Default: any. */
  readonly isCitation?: (data: unknown) => boolean;
}

/** Matches the types of the items of providers; others are of the application, and no provider gets them. */
const PROVIDER_ITEM = /^(?:anthropic|bedrock|google|openai)\./;

/** Matches the types of items that are reasoning or state of a model, which other models do without. */
const MODEL_STATE = /^(?:openai\.reasoning(?:_details)?|anthropic\.container)$/;

/** Whether a block of another model's reply is content that only that model gets, such as the result of a server tool. */
export function isForeignItem(block: ContentBlock): boolean {
  return block.type === "extension" && PROVIDER_ITEM.test(block.typeName) &&
    !MODEL_STATE.test(block.typeName);
}

/** Whether an item may be sent back, or is one that no provider gets. */
export function hasValidItem(block: ContentBlock, { isItem }: ReplayRules): boolean {
  if (block.type !== "extension" || !PROVIDER_ITEM.test(block.typeName)) return true;
  return isItem?.(block) ?? false;
}

/** Whether the signature of a block is absent, or one that the provider issues. */
export function hasValidSignature(block: ContentBlock, { isSignature }: ReplayRules): boolean {
  if (!("signature" in block)) return true;
  const signature: unknown = block.signature;
  if (signature === undefined) return true;
  return typeof signature === "string" && (isSignature?.(signature, block) ?? true);
}

/** Whether the citations of a block are absent, or of the provider's form. */
export function hasValidCitations(block: ContentBlock, rules: ReplayRules): boolean {
  if (block.type !== "text") return true;
  const citations: unknown = block.citations;
  if (citations === undefined) return true;
  return Array.isArray(citations) && citations.every((each) => isValidCitation(each, rules));
}

/** Whether a citation is an object, with the provider's form if it has any. */
export function isValidCitation(citation: unknown, { isCitation }: ReplayRules): boolean {
  if (!isJsonObject(citation)) return false;
  const { data } = citation;
  return data === undefined || (isCitation?.(data) ?? true);
}
