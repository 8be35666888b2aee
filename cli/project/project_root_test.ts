import { assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { findProjectRoot } from "./project_root.ts";

Deno.test("findProjectRoot(): finds no root in a directory above in which every user can create files", async () => {
  await using directory = await createTemporaryDirectory({ ".swink/config.toml": "", "a/b/c": "" });
  const [shared, below] = [directory.path, `${directory.path}/a/b`];
  assertEquals(findProjectRoot(below), shared);
  // Continuous integration often gives all users access to a checkout.
  await Deno.chmod(shared, 0o777);
  assertEquals(findProjectRoot(below), shared);
  await Deno.chmod(shared, 0o1777);
  assertEquals(findProjectRoot(below), below);
  assertEquals(findProjectRoot(shared), shared);
});
