/**
 * The output of hooks at the end of a message of the user.
 *
 * @module
 */

import type { PromptInput, UserMessage } from "../../mod.ts";
import { extractText } from "../../src/core/messages/content.ts";

/** Returns the text of a prompt; empty for other messages. */
export function getPromptText(prompt: PromptInput): string {
  if (typeof prompt === "string") return prompt;
  return "text" in prompt ? prompt.text : "";
}

/** Returns a prompt with the output of hooks after it. */
export function addHookOutput(prompt: PromptInput, output: string): PromptInput {
  if (output === "") return prompt;
  const isText = typeof prompt === "string";
  if (!isText && !("text" in prompt)) return prompt;
  const { text, images = [] } = isText ? { text: prompt } : prompt;
  const added = `\n\n${output}`;
  return {
    role: "user",
    content: [{ type: "text", text: `${text}${added}` }, ...images],
    // Other messages have the time of this clock, too.
    timestamp: Date.now(),
    metadata: createMetadata(added),
  };
}

/** Returns a message with the output of hooks as its last block. */
export function appendHookOutput(message: UserMessage, output: string): UserMessage {
  if (output === "") return message;
  return {
    ...message,
    content: [...message.content, { type: "text", text: output }],
    metadata: { ...message.metadata, ...createMetadata(output) },
  };
}

/** Returns the text of a message without the output of hooks. */
export function getTextWithoutHooks({ content, metadata }: UserMessage): string {
  const text = extractText(content);
  const length = metadata?.hookOutputLength;
  const isValid = Number.isInteger(length) && Number(length) > 0 && Number(length) < text.length;
  return isValid ? text.slice(0, -Number(length)) : text;
}

/** Creates the data of a message that ends with the output of hooks. */
function createMetadata(added: string): { readonly hookOutputLength: number } {
  return { hookOutputLength: added.length };
}
