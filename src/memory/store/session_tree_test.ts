import { assertEquals } from "@std/assert";
import type { EntryOutline } from "../../core/session_entry.ts";
import { SessionTree } from "./session_tree.ts";

function node(id: string, parentId: string | null = null): EntryOutline {
  return { type: "title", id, parentId, timestamp: 0 };
}

function treeOf(...nodes: readonly EntryOutline[]): SessionTree {
  const tree = new SessionTree();
  for (const each of nodes) tree.add(each);
  return tree;
}

Deno.test("a path leads from the root to an entry", () => {
  const tree = treeOf(node("a"), node("b", "a"), node("c", "a"), node("d", "b"), node("e"));
  assertEquals(tree.pathTo("d"), [0, 1, 3]);
  assertEquals(tree.pathTo("c"), [0, 2]);
  assertEquals(tree.pathTo("e"), [4]);
  assertEquals([tree.pathTo(null), tree.pathTo("nowhere")], [[], []]);
  assertEquals(tree.leafId, "e");
});

Deno.test("what was cut off is forgotten, and its ids are free again", () => {
  const tree = treeOf(node("a"), node("b", "a"), node("c", "b"));
  assertEquals(tree.has("c"), true);
  tree.cut(1);
  assertEquals([tree.leafId, tree.has("b"), tree.positionOf("c")], ["a", false, -1]);
  tree.add(node("c", "a"));
  assertEquals(tree.pathTo("c"), [0, 1]);
});

Deno.test("an entry that does not fit is made to fit", () => {
  const tree = treeOf(node("a"), node("b", "a"));
  assertEquals(tree.adopt(node("c", "gone")), { node: node("c", "b"), mends: ["lost_parent"] });
  assertEquals(tree.adopt(node("a", "b")), { node: node("a~2", "b"), mends: ["duplicate_id"] });
  assertEquals(tree.adopt(node("a", "a~2")).node.id, "a~3");
  assertEquals(tree.adopt(node("self", "self")).mends, ["lost_parent"]);
  assertEquals(tree.pathTo("self"), [0, 1, 3, 4, 5]);
});
