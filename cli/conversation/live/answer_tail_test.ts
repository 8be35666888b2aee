import { assertEquals } from "@std/assert";
import type { KeyEvent } from "../../keys/key_event.ts";
import { AnswerTail } from "./answer_tail.ts";

const ENTER: KeyEvent = { type: "key", name: "enter", ctrl: false, alt: false, shift: false };

/** Types keys behind `yes`, one each `intervalMs`; returns those that are passed on. */
function type(text: string, intervalMs = 100): string {
  const tail = new AnswerTail("yes", 0);
  return Array.from(text, (character, index) => {
    const event: KeyEvent = character === "⏎" ? ENTER : { type: "character", text: character };
    return tail.filter(event, (index + 1) * intervalMs);
  }).flat().map((event) => event.type === "character" ? event.text : "⏎").join("");
}

Deno.test("AnswerTail: removes Enter, and the rest of the word with Enter", () => {
  assertEquals(type("⏎"), "");
  assertEquals(type("es⏎"), "");
  assertEquals(type("es⏎more⏎"), "more⏎");
  assertEquals(type("⏎es⏎"), "es⏎");
});

Deno.test("AnswerTail: passes on other keys, and those that are typed later", () => {
  assertEquals(type("estimate⏎"), "estimate⏎");
  assertEquals(type("e⏎"), "e⏎");
  assertEquals(type("text⏎"), "text⏎");
  assertEquals(type("⏎", 1_000), "⏎");
  assertEquals(type("es⏎", 1_000), "es⏎");
});
