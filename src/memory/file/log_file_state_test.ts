import { assertEquals } from "@std/assert";
import type { AppendableFile } from "./file_system.ts";
import {
  createLogTail,
  getWrittenOffsets,
  type LogTail,
  type OpenLogFile,
  toAppendedState,
  toClosedState,
  toCreatedState,
  toLoadedState,
  toOpenState,
  toSyncedState,
} from "./log_file_state.ts";

const file: AppendableFile = {
  write: (bytes) => Promise.resolve(bytes.length),
  sync: () => Promise.resolve(),
  stat: () => ({ size: 0, modified: 0, inode: null }),
  close: () => {},
};

function openFile(tail: LogTail): OpenLogFile {
  return toOpenState(toLoadedState(tail, 7), file);
}

Deno.test("createLogTail() names the text that must precede the next entry", () => {
  const missing = [true, false].flatMap((hasHeader) =>
    [true, false].map((isTerminated) => createLogTail(9, { hasHeader, isTerminated }).missing)
  );
  assertEquals(missing, ["nothing", "newline", "header", "newline_and_header"]);
});

Deno.test("toAppendedState(): a complete append leaves a terminated file with a header", () => {
  for (const missing of ["nothing", "newline", "header", "newline_and_header"] as const) {
    const prefixLength = missing === "nothing" ? 0 : 10;
    const ends = [prefixLength, prefixLength + 5, prefixLength + 11];
    const append = { ends, written: prefixLength + 11 };
    const { tail } = toAppendedState(openFile({ size: 100, missing }), append);
    assertEquals(tail, { size: 111 + prefixLength, missing: "nothing" });
    assertEquals(getWrittenOffsets(append, 100), [100 + prefixLength, 105 + prefixLength]);
  }
});

Deno.test("toAppendedState(): a partial append leaves the text that was not written missing", () => {
  const appendPart = (missing: LogTail["missing"], prefixLength: number, written: number) => {
    const append = { ends: [prefixLength, prefixLength + 5, prefixLength + 11], written };
    const { tail } = toAppendedState(openFile({ size: 0, missing }), append);
    return [tail.missing, getWrittenOffsets(append, 0).length];
  };
  assertEquals(appendPart("nothing", 0, 0), ["nothing", 0]);
  assertEquals(appendPart("nothing", 0, 3), ["newline", 0]);
  // A line without its newline is complete.
  assertEquals(appendPart("nothing", 0, 4), ["newline", 1]);
  assertEquals(appendPart("nothing", 0, 5), ["nothing", 1]);
  assertEquals(appendPart("nothing", 0, 7), ["newline", 1]);
  assertEquals(appendPart("newline", 1, 0), ["newline", 0]);
  assertEquals(appendPart("newline", 1, 1), ["nothing", 0]);
  assertEquals(appendPart("header", 9, 4), ["newline_and_header", 0]);
  assertEquals(appendPart("header", 9, 9), ["nothing", 0]);
  assertEquals(appendPart("newline_and_header", 10, 1), ["newline_and_header", 0]);
});

Deno.test("toCreatedState(): the directory is unsynced until toSyncedState()", () => {
  const open = toOpenState(toCreatedState(50), file);
  assertEquals(open.tail, { size: 50, missing: "nothing" });
  assertEquals(open.directory, "unsynced");
  const synced = toSyncedState(open);
  assertEquals(synced.directory, "synced");
  assertEquals(toClosedState(synced), {
    type: "closed",
    tail: open.tail,
    inode: null,
    directory: "synced",
  });
  assertEquals(openFile(open.tail).directory, "synced");
});
