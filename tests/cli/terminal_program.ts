/**
 * A program that uses keyboard and live region as a conversation does, for tests in a real terminal. Each key is a line
 * of output. F4 prints 300 words, F5 starts another program, F6 throws, F7 rejects, F8 exits.
 *
 * @module
 */

import { createDenoHost } from "../../cli/host/host.ts";
import { InterruptHandler } from "../../cli/host/interrupt.ts";
import { listenForSuspension } from "../../cli/host/suspension.ts";
import { detectTerminalFeatures } from "../../cli/host/terminal_features.ts";
import { startTimer } from "../../cli/host/timer.ts";
import { formatKey } from "../../cli/keys/key_notation.ts";
import { openKeyboard } from "../../cli/keys/keyboard.ts";
import { createLiveRegion } from "../../cli/screen/create_live_region.ts";

const host = createDenoHost();
const { terminal } = host;
const features = detectTerminalFeatures({ env: host.env });
const interrupt = new InterruptHandler(host);
const region = createLiveRegion({
  output: terminal.output,
  getSize: () => terminal,
  now: () => performance.now(),
  startTimer,
  features,
});
const keyboard = await openKeyboard({ terminal, features, startTimer });
const suspend = async () => {
  await region.suspend();
  await keyboard.suspend();
};
const resume = async () => {
  await keyboard.resume();
  await region.resume();
};
const suspension = listenForSuspension({ terminal, suspend, resume });
terminal.onRedraw((cause) => {
  if (cause === "resized") region.resized();
});
let typed = "";
const drawInput = () => region.update({ rows: ["── status ──", `› ${typed}`] }, "key");
async function printWords(): Promise<void> {
  for (let word = 1; word <= 300; word++) {
    await region.print(`w${word}${word % 4 === 0 ? "\n" : " "}`);
    drawInput();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

drawInput();
void region.print(`ready ${Deno.pid}`);
for (;;) {
  const keys = await keyboard.read(interrupt.signal);
  if (!keys) break;
  for (const key of keys) {
    const text = key.type === "key" ? formatKey(key) : key.text;
    void region.printLines([`${key.type} ${JSON.stringify(text)}`]);
    typed += key.type === "character" ? key.text : "";
    if (text === "ctrl+z") terminal.requestSuspension();
    if (text === "f4") void printWords();
    if (text === "f6") {
      setTimeout(() => {
        throw new Error("crash");
      });
    }
    if (text === "f7") setTimeout(() => void Promise.reject(new Error("crash")));
    if (text === "f5") {
      await suspend();
      const child = new Deno.Command("sh", { args: ["-c", 'read line; echo "child: $line"'] });
      await child.spawn().status;
      await resume();
    }
    if (text === "f8") Deno.exit(0);
  }
  drawInput();
}
suspension[Symbol.dispose]();
await region.close();
await keyboard[Symbol.asyncDispose]();
console.log(`end ${interrupt.signal.reason ?? "of input"}`);
Deno.exit(interrupt.exitCode ?? 0);
