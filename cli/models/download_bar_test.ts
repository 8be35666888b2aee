import { assertEquals, assertStringIncludes } from "@std/assert";
import { createFakeHost } from "../../tests/cli/fake_host.ts";
import { toPlainText } from "../render/plain_text.ts";
import { DownloadBar } from "./download_bar.ts";

Deno.test("DownloadBar: leaves columns for the characters of Ctrl+C, and is erased", async () => {
  const host = createFakeHost({ terminals: ["messages"], env: { NO_COLOR: "1" } });
  const bar = new DownloadBar(`hf:${"owner".repeat(30)}/model.gguf`, host);
  bar.update({ receivedBytes: 1_000_000, totalBytes: 4_000_000 });
  await bar.close();
  const [before, row = "", after] = host.messages.split("\r\x1b[K");
  assertEquals([before, after], ["", ""]);
  assertEquals(toPlainText(row).length, host.terminal.columns - 3);
  assertStringIncludes(row, "hf:owner");
});
