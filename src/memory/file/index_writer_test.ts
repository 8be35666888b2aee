import { assertEquals } from "@std/assert";
import { createHeader } from "../store/jsonl.ts";
import { SessionTree } from "../store/session_tree.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { decodeIndex } from "./file_index.ts";
import { IndexWriter } from "./index_writer.ts";
import { LineOffsets } from "./line_offsets.ts";
import { localFileSystem } from "./local_file_system.ts";
import type { LogState } from "./log_scanner.ts";
import { getSessionPaths } from "./session_paths.ts";

Deno.test("IndexWriter: an index that was written without entries is completed by the next write", async () => {
  const directory = await Deno.makeTempDir();
  const paths = getSessionPaths(directory, "s");
  const header = createHeader({ id: "s", created: 1 });
  const summary = SummaryBuilder.from(header);
  const [tree, offsets] = [new SessionTree(), new LineOffsets()];
  const state = (bytes: number): LogState => ({
    header,
    tree,
    offsets,
    damage: [{ type: "broken_line", offset: 50, length: 9 }],
    summary: summary.build(bytes),
  });
  const writer = new IndexWriter(localFileSystem, paths, { size: 60, indexed: undefined });
  await writer.write(state(60));
  assertEquals(decodeIndex(await Deno.readTextFile(paths.index))?.tree.nodes, []);

  const position = { id: "e1", parentId: null, timestamp: 2 };
  tree.add({ type: "title", ...position });
  offsets.add(60, 39);
  summary.add({ type: "title", title: "T", ...position });
  await writer.write(state(100));
  const index = decodeIndex(await Deno.readTextFile(paths.index));
  assertEquals(index?.tree.nodes, [{ type: "title", ...position }]);
  assertEquals(index?.damage, state(100).damage);
  assertEquals(index?.summary, summary.build(100));
  await Deno.remove(directory, { recursive: true });
});

Deno.test("IndexWriter: the index is due when the log has grown by more than 1 MB", () => {
  const paths = getSessionPaths("/none", "s");
  const log = { size: 500, indexed: { entries: 1, damage: 0 } };
  const writer = new IndexWriter(localFileSystem, paths, log);
  const limit = 500 + 1024 * 1024;
  assertEquals([limit, limit + 1].map((size) => writer.isDue(size)), [false, true]);
});
