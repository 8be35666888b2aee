import { assertEquals, assertStrictEquals } from "@std/assert";
import { createFakeHost } from "../../tests/cli/fake_host.ts";
import { overrideTerminal } from "./override_terminal.ts";

Deno.test("overrideTerminal(): replaces streams, and neither opens the keyboard nor keeps the size", () => {
  const host = createFakeHost();
  let columns = 80;
  const terminal = Object.create(host.terminal, {
    keyboard: {
      enumerable: true,
      get() {
        throw new Error("The controlling terminal is opened");
      },
    },
    columns: { enumerable: true, get: () => columns },
  });
  const { messages } = host.terminal;
  const changed = overrideTerminal({ ...host, terminal }, {
    keyboard: undefined,
    output: messages,
  });
  columns = 60;
  assertEquals(changed.terminal.keyboard, undefined);
  assertStrictEquals(changed.terminal.output, messages);
  assertEquals(changed.terminal.columns, 60);
});
