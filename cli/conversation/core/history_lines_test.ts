import { assertEquals } from "@std/assert";
import { userMessage } from "../../../mod.ts";
import { assistantMessage } from "../../../src/testing/mod.ts";
import { toLineText } from "../view/lines.ts";
import { getDisplay } from "../../render/theme/get_display.ts";
import { formatHistory } from "./history_lines.ts";

Deno.test("formatHistory(): shortens texts of many lines, and lines of many characters", () => {
  const display = getDisplay({ isTerminal: true }, () => undefined);
  const messages = [
    userMessage("word ".repeat(200_000), 0),
    assistantMessage(Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n")),
  ];
  const lines = formatHistory(messages, { display, formatEndedCall: () => [] }).map(toLineText);
  assertEquals(lines[0]?.length, 1_000 + "› ".length);
  assertEquals(lines.slice(-2), ["line 9", "… 10 more lines"]);
  assertEquals(lines.length, 12);
});
