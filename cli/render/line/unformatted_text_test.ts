import { assertEquals } from "@std/assert";
import { toLineText } from "../../conversation/view/lines.ts";
import { UnformattedText } from "./unformatted_text.ts";

Deno.test("UnformattedText: wraps lines that arrive in parts, with the label before the first one", () => {
  const text = new UnformattedText({ getColumns: () => 20, label: [{ text: "assistant: " }] });
  assertEquals(text.push("# One\u001b[2J").map(toLineText), []);
  assertEquals(text.open.map(toLineText), ["assistant: # One"]);
  assertEquals(text.push(" two\nthree four five six\nse").map(toLineText), [
    "assistant: # One two",
    "three four five six",
  ]);
  assertEquals(text.poll(), []);
  assertEquals(text.push("ven eight nine ten eleven").map(toLineText), []);
  assertEquals(text.end().map(toLineText), ["seven eight nine ten", "eleven"]);
  assertEquals(text.open, []);
});

Deno.test("UnformattedText: shows nothing while it is hidden", () => {
  let hidden = true;
  const text = new UnformattedText({ getColumns: () => 20, isHidden: () => hidden });
  assertEquals(text.push("one\ntwo"), []);
  assertEquals(text.open, []);
  hidden = false;
  assertEquals(text.end().map(toLineText), ["two"]);
});
