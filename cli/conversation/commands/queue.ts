/**
 * `/queue`: shows, changes and removes the texts that wait for the agent.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import type { Line } from "../../render/line/line.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import type { QueueControl, QueuedText } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/queue`. */
export const queue = defineCommand({
  names: ["/queue"],
  argument: "[edit N|remove N|clear]",
  summary: "Shows the texts that wait for the agent, takes one back into the input, or removes it",
  worksDuringRuns: true,
  complete: () => [
    { text: "edit", detail: "takes a text back into the input" },
    { text: "remove", detail: "removes a text" },
    { text: "clear", detail: "removes all texts" },
  ],
  async run(argument, { view, queue }) {
    const [, word = "", number = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
    switch (word) {
      case "":
        break;
      case "clear":
        if (number !== "") {
          throw new UsageError("/queue clear removes all texts; /queue remove N removes one");
        }
        queue.clear();
        break;
      case "edit":
      case "remove": {
        const text = takeText(queue, number, word);
        if (word === "edit") {
          view.setDraft(text.delivery === "follow_up" ? `>> ${text.text}` : text.text);
        }
        break;
      }
      default:
        throw new UsageError(`/queue takes edit N, remove N or clear, not ${JSON.stringify(word)}`);
    }
    view.redraw();
    await view.print(formatQueue(queue.texts));
  },
});

/** Removes a text from the queue. */
function takeText(queue: QueueControl, number: string, word: string): QueuedText {
  const { texts } = queue;
  const text = /^\d+$/.test(number) ? texts[Number(number) - 1] : undefined;
  if (text && queue.remove(text.id)) return text;
  const advice = texts.length === 0
    ? "The queue is empty."
    : `Write a number from 1 to ${texts.length}.`;
  throw new UsageError(
    `/queue ${word} needs the number of a text that waits, not ${JSON.stringify(number)}`,
    advice,
  );
}

/** Formats the texts that wait, one a line with its number. */
function formatQueue(texts: readonly QueuedText[]): Line[] {
  if (texts.length === 0) return [toLine("No text waits for the agent", "faint")];
  return texts.map(({ text, delivery }, index) => [
    { text: `${index + 1} ${delivery === "follow_up" ? ">> " : ""}`, role: "faint" },
    { text: toOneLine(toPlainText(text)) },
  ]);
}
