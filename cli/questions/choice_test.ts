import { assertEquals } from "@std/assert";
import { formatHint, parseAnswer } from "./choice.ts";

const CHOICE = { details: [], message: "Allow?", answers: ["yes", "no"] } as const;

Deno.test("parseAnswer(): accepts an answer and its first letter", () => {
  for (const text of ["y", "Y", " yes\n"]) assertEquals(parseAnswer(CHOICE, text, false), "yes");
  for (const text of ["", "ye", "x"]) assertEquals(parseAnswer(CHOICE, text, false), undefined);
});

Deno.test("parseAnswer(): view is an answer only while details follow", () => {
  assertEquals(parseAnswer(CHOICE, "v", true), "view");
  assertEquals(parseAnswer(CHOICE, "v", false), undefined);
});

Deno.test("formatHint(): lists the answers, in rows of whole words", () => {
  const format = (canView: boolean, columns: number) => formatHint(CHOICE, { canView, columns });
  assertEquals(format(true, 34), "  Possible answers: yes, no, view");
  assertEquals(format(false, 80), "  Possible answers: yes, no");
  assertEquals(format(true, 30), "  Possible answers: yes, no,\n  view");
});
