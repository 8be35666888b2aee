import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import type { EntryOutline } from "../../core/sessions/session_entry.ts";
import { SessionTree } from "./session_tree.ts";

function createNode(id: string, parentId: string | null = null): EntryOutline {
  return { type: "title", id, parentId, timestamp: 0 };
}

function createTree(...nodes: readonly EntryOutline[]): SessionTree {
  const tree = new SessionTree();
  for (const node of nodes) tree.add(node);
  return tree;
}

Deno.test("SessionTree: pathTo() returns the positions from the root to an entry", () => {
  const tree = createTree(
    createNode("a"),
    createNode("b", "a"),
    createNode("c", "a"),
    createNode("d", "b"),
    createNode("e"),
  );
  assertEquals(tree.pathTo("d"), [0, 1, 3]);
  assertEquals(tree.pathTo("c"), [0, 2]);
  assertEquals(tree.pathTo("e"), [4]);
  assertEquals([tree.pathTo(null), tree.pathTo("nowhere")], [[], []]);
  assertEquals(tree.leafId, "e");
});

Deno.test("SessionTree: truncate() removes entries and their ids", () => {
  const tree = createTree(createNode("a"), createNode("b", "a"), createNode("c", "b"));
  assertEquals(tree.has("c"), true);
  tree.truncate(1);
  assertEquals([tree.leafId, tree.has("b"), tree.findPosition("c")], ["a", false, -1]);
  tree.add(createNode("c", "a"));
  tree.add(createNode("d", "c"));
  assertEquals([tree.findPosition("c"), tree.pathTo("d")], [1, [0, 1, 2]]);
});

Deno.test("SessionTree: addRepaired() replaces a missing parent and a duplicate id", () => {
  const tree = createTree(createNode("a"), createNode("b", "a"));
  assertEquals(tree.addRepaired(createNode("c", "gone")), {
    node: createNode("c", "b"),
    repairs: ["lost_parent"],
  });
  assertEquals(tree.addRepaired(createNode("a", "b")), {
    node: createNode("a~2", "b"),
    repairs: ["duplicate_id"],
  });
  assertEquals(tree.addRepaired(createNode("a", "a~2")).node.id, "a~3");
  assertEquals(tree.addRepaired(createNode("self", "self")).repairs, ["lost_parent"]);
  assertEquals(tree.pathTo("self"), [0, 1, 3, 4, 5]);
});

Deno.test("SessionTree: addRepaired() takes constant time for each entry with the same id", () => {
  const tree = createTree(createNode("a"));
  const getThreadTime = startThreadTimer();
  for (let number = 0; number < 20_000; number++) tree.addRepaired(createNode("a", "a"));
  assertEquals(tree.leafId, "a~20001");
  // Checking all numbers for each entry takes a minute.
  assert(getThreadTime() < 10_000);
});
