import { assertEquals } from "@std/assert";
import { encodeEntry } from "../store/jsonl.ts";
import { LineOffsets } from "./line_offsets.ts";
import { localFileSystem } from "./local_file_system.ts";
import { LogReader } from "./log_reader.ts";

Deno.test("LogReader: returns no later line for one that was joined to the line before", async () => {
  const path = await Deno.makeTempFile();
  const lines = ["e1", "e2", "e3"].map((id) =>
    encodeEntry({ type: "title", title: id, id, parentId: null, timestamp: 1 })
  );
  const offsets = new LineOffsets();
  let offset = 0;
  for (const { length } of lines) {
    offsets.add(offset, length);
    offset += length + 1;
  }
  await Deno.writeTextFile(path, `${lines[0]} ${lines[1]}\n${lines[2]}\n`);
  const read = await new LogReader(localFileSystem, path, offsets).read([0, 1, 2]);
  assertEquals(read.map((line) => line?.type === "title" && line.id), [false, false, "e3"]);
  await Deno.remove(path);
});
