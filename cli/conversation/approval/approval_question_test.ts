import { assertEquals } from "@std/assert";
import { suggestPrefix } from "./approval_question.ts";

Deno.test("suggestPrefix(): the subcommand or script of a command, all of another one", () => {
  const prefixes = [
    ["git log --oneline", "git log"],
    ["npm run build -- --watch", "npm run build"],
    ["deno task test a.ts", "deno task test"],
    ["deno --version", "deno"],
    ["python3 x.py  --all", "python3 x.py --all"],
    ["rm -rf x", "rm -rf x"],
    ["a && b", undefined],
    ["pytest -k 'a  or b' tests", "pytest -k 'a  or b' tests"],
    ["A=b make", undefined],
    ["touch *.ts", undefined],
    ["bash build.sh", undefined],
    ["a | b", undefined],
    ["", undefined],
  ];
  for (const [command = "", prefix] of prefixes) {
    assertEquals(suggestPrefix({ arguments: { command } }), prefix, command);
  }
});

Deno.test("suggestPrefix(): the directory of a path", () => {
  assertEquals(suggestPrefix({ arguments: { path: "src/a/b.ts" } }), "src/a");
  assertEquals(suggestPrefix({ arguments: { path: "b.ts" } }), ".");
  assertEquals(suggestPrefix({ arguments: { url: "x" } }), undefined);
});
