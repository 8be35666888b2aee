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
  assertEquals(formatHint(CHOICE, true), "  Possible answers: yes, no, view");
  assertEquals(formatHint(CHOICE, false), "  Possible answers: yes, no");
});
