/**
 * The texts around the thinking of different models.
 *
 * @module
 */

/** Tags before and after the thinking. */
export const THINKING_TAGS: readonly (readonly [open: string, close: string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["<reasoning>", "</reasoning>"],
  ["[THINK]", "[/THINK]"],
  // Gemma 4
  ["<|channel>thought", "<channel|>"],
];

/** Removes spaces and thinking without a text from the end of a text. Some templates have only its end. */
export function removeEmptyThinking(text: string): string {
  const trimmed = text.trimEnd();
  const tags = THINKING_TAGS.find(([, close]) => trimmed.endsWith(close));
  if (!tags) return trimmed;
  const [open, close] = tags;
  const before = trimmed.slice(0, -close.length).trimEnd();
  return before.endsWith(open) ? before.slice(0, -open.length).trimEnd() : before;
}
