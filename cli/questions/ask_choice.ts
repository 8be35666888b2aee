/**
 * Questions to the user at the terminal.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { AnswerWord } from "./answer_word.ts";
import { type Choice, formatHint, parseAnswer, type QuestionContext } from "./choice.ts";
import { DetailPages } from "./detail_pages.ts";
import { KeyReader } from "./key_reader.ts";
import { QuestionRow } from "./question_row.ts";

/** The last answer at each terminal. */
const words = new WeakMap<object, AnswerWord>();

/**
 * Asks a question until the answer is valid. Input that was typed before the question is discarded, and so are the letters
 * that complete the word of an earlier answer.
 *
 * @returns The answer; `undefined` at the end of the input, for Ctrl+D, or when the signal is aborted.
 */
export async function askChoice<Answer extends string>(
  choice: Choice<Answer>,
  context: QuestionContext,
): Promise<Answer | undefined> {
  const { host: { terminal, env, now }, keyboard, input, signal } = context;
  // Typed keys are not shown while the earlier ones are discarded.
  keyboard.setRaw(true);
  try {
    const discarded = await input.discardEarlier(signal);
    words.get(terminal)?.continues(discarded, now());
    if (signal.aborted) return undefined;
    // A key moves the cursor, which such a terminal cannot do.
    const ask = env("TERM") === "dumb" ? askForLine : askForKey;
    const answer = await ask(choice, context);
    if (answer === undefined) await terminal.messages.write("\n");
    return answer;
  } finally {
    keyboard.setRaw(false);
  }
}

async function askForKey<Answer extends string>(
  choice: Choice<Answer>,
  { host: { terminal, now }, input, signal }: QuestionContext,
): Promise<Answer | undefined> {
  const pages = new DetailPages(choice.details, terminal);
  const keys = new KeyReader({ readChunk: () => input.readChunk(signal), now });
  const question = new QuestionRow(`  ${choice.message}: `, terminal);
  const stopRedrawing = terminal.onRedraw((cause) => {
    if (cause === "resized") return question.resize();
    // After a suspension the screen shows the shell; a resize keeps the details.
    pages.redraw();
    question.restart();
    void question.write(pages.text);
  });
  let shownHint = "";
  try {
    await question.write(pages.text);
    for (;;) {
      const key = await keys.read();
      if (key === undefined) return undefined;
      if (words.get(terminal)?.continues(key, now())) continue;
      const { hasMore } = pages;
      const answer = parseAnswer(choice, key, hasMore);
      if (answer !== undefined && key.trim().length === 1) {
        words.set(terminal, new AnswerWord(answer, now()));
      }
      if (answer === "view") {
        pages.advance();
        await question.write(pages.text);
      } else if (answer !== undefined) {
        await question.end(answer);
        return answer;
      } else {
        const hint = formatHint(choice, { canView: hasMore, columns: terminal.columns });
        await question.write(hint === shownHint ? "" : `${hint}\n`);
        shownHint = hint;
      }
    }
  } finally {
    stopRedrawing();
  }
}

async function askForLine<Answer extends string>(
  choice: Choice<Answer>,
  { host: { terminal }, keyboard, input, signal }: QuestionContext,
): Promise<Answer | undefined> {
  keyboard.setRaw(false);
  const { messages, columns } = terminal;
  const pages = new DetailPages(choice.details, terminal);
  const question = `  ${choice.message}: `;
  await messages.write(`${pages.text}${question}`);
  for await (const line of readLines(() => input.readChunk(signal))) {
    const { hasMore } = pages;
    const answer = parseAnswer(choice, line, hasMore);
    if (answer === "view") {
      pages.advance();
      await messages.write(`${pages.text}${question}`);
    } else if (answer !== undefined) return answer;
    else {
      const hint = formatHint(choice, { canView: hasMore, columns });
      await messages.write(`${hint}\n${question}`);
    }
  }
  return undefined;
}

function readLines(readChunk: () => Promise<Uint8Array | undefined>): ReadableStream<string> {
  const decoder = new TextDecoder();
  const text = new ReadableStream<string>({
    async pull(controller) {
      const chunk = await readChunk();
      if (chunk) controller.enqueue(decoder.decode(chunk, { stream: true }));
      else controller.close();
    },
  });
  return text.pipeThrough(new TextLineStream());
}
