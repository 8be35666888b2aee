/**
 * Adapts earlier replies to the forms that a provider accepts; loaded for the first request with uncommon content.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json/json.ts";
import type { ContentBlock, ToolCallBlock } from "../../../src/core/messages/content.ts";
import type { AssistantMessage } from "../../../src/core/messages/message.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import { isMedia, isOwnReply, isReplyBlock } from "./history.ts";
import type { Omissions } from "./omissions.ts";
import {
  hasValidCitations,
  hasValidItem,
  hasValidSignature,
  isForeignItem,
  isValidCitation,
  type ReplayRules,
} from "./replay_rules.ts";

/** Omits the parts of replies that a provider does not accept. */
export class ReplyAdapter {
  readonly #model: ModelSpec;
  readonly #rules: ReplayRules | undefined;
  readonly #omissions: Omissions;

  constructor(model: ModelSpec, rules: ReplayRules | undefined, omissions: Omissions) {
    this.#model = model;
    this.#rules = rules;
    this.#omissions = omissions;
  }

  /** Returns the reply without the parts that the provider does not accept. */
  adapt(reply: AssistantMessage): AssistantMessage {
    const rules = isOwnReply(reply, this.#model) ? this.#rules : undefined;
    return { ...reply, content: reply.content.flatMap((block) => this.#adaptBlock(block, rules)) };
  }

  /** Adapts a block; without rules, as for a reply of another model, its items are omitted. */
  #adaptBlock(block: ContentBlock, rules: ReplayRules | undefined): readonly ContentBlock[] {
    if (!isReplyBlock(block)) {
      // Media, or a block of a type that a newer version or a caller without types made up.
      const type = isMedia(block) ? MEDIA_NAMES[block.type] : `${String(block.type)} blocks`;
      this.#omissions.add("content_left_out", `Replies in requests have no ${type}`);
      return [];
    }
    if (rules && !hasValidItem(block, rules)) {
      this.#addInvalid("content_left_out", `items of type ${describeItem(block)}`);
      return [];
    }
    if (!rules && isForeignItem(block)) {
      const type = describeItem(block);
      this.#omissions.add(
        "content_left_out",
        `Only the model that created items of type ${type} gets them`,
      );
      return [];
    }
    const signed = this.#adaptSignature(block, rules ?? {});
    const cited = this.#adaptCitations(signed, rules ?? {});
    return [cited.type === "tool_call" ? this.#adaptArguments(cited) : cited];
  }

  #adaptSignature(block: ContentBlock, rules: ReplayRules): ContentBlock {
    if (hasValidSignature(block, rules) || !("signature" in block)) return block;
    this.#addInvalid("signatures_left_out", `signatures of ${block.type} blocks`);
    const { signature: _signature, ...unsigned } = block;
    return unsigned;
  }

  #adaptCitations(block: ContentBlock, rules: ReplayRules): ContentBlock {
    if (block.type !== "text" || hasValidCitations(block, rules)) return block;
    this.#addInvalid("citations_left_out", "citations");
    const { citations, ...text } = block;
    const known: readonly unknown[] = Array.isArray(citations) ? citations : [];
    const kept = citations?.filter?.((_, index) => isValidCitation(known[index], rules)) ?? [];
    return kept.length > 0 ? { ...text, citations: kept } : text;
  }

  #adaptArguments(block: ToolCallBlock): ToolCallBlock {
    if (isJsonObject(block.arguments)) return block;
    this.#addInvalid("arguments_left_out", "arguments of tool calls");
    return { ...block, arguments: {} };
  }

  #addInvalid(code: string, subject: string): void {
    this.#omissions.add(code, `The history has ${subject} that cannot be sent back`);
  }
}

const MEDIA_NAMES = { image: "images", document: "documents", audio: "audio" } as const;

function describeItem(block: ContentBlock): string {
  return block.type === "extension" ? block.typeName : block.type;
}
