import { assertEquals } from "@std/assert";
import type { AcpQuestion } from "../../src/protocols/acp/mod.ts";
import { EditorView } from "./editor_view.ts";

Deno.test("EditorView: an editor shows all lines of a question, also those that Markdown would hide", async () => {
  const questions: AcpQuestion[] = [];
  const view = new EditorView({
    choose(question) {
      questions.push(question);
      return Promise.resolve("yes");
    },
  });
  const ask = (lines: readonly string[]) =>
    view.askChoice({
      details: lines.map((text) => ({ text, paint: (row) => row, mark: "" })),
      message: "Carry out this plan? [y]es / [n]o",
      answers: ["yes", "no"],
    }, new AbortController().signal);
  assertEquals(await ask(["1. Tidy", "<!--", "2. Send the keys", "```", "-->"]), "yes");
  await ask([]);
  assertEquals(questions.map(({ text }) => text), [
    "````\n1. Tidy\n<!--\n2. Send the keys\n```\n-->\n````",
    "",
  ]);
});
