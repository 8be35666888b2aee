import { assertEquals, assertStringIncludes } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { ApprovedFile } from "./approved_file.ts";
import { planFile } from "./plan_file.ts";
import { hashPlan } from "./plan_hash.ts";

const TEXT = "# T\r\n\r\n## 1. a\r\n\r\n## 2. b\r\n";

async function createApprovedFile() {
  const directory = await createTemporaryDirectory({ "plan.md": TEXT });
  const approved = new ApprovedFile(planFile(`${directory.path}/plan.md`), await hashPlan(TEXT));
  return Object.assign(directory, { approved });
}

Deno.test("ApprovedFile: writes states, which are no change of the content", async () => {
  await using directory = await createApprovedFile();
  const { approved } = directory;
  assertEquals(await approved.writeStates(["complete", "in_progress"]), undefined);
  assertEquals(
    directory.read("plan.md"),
    "# T\r\n\r\n## 1. [done] a\r\n\r\n## 2. [in progress] b\r\n",
  );
  assertEquals(await approved.findChange(), undefined);
});

Deno.test("ApprovedFile: does not write over an edit, and creates no file that was removed", async () => {
  await using directory = await createApprovedFile();
  const { approved } = directory;
  directory.write("plan.md", `${TEXT}\nMine.\n`);
  assertStringIncludes(await approved.writeStates(["complete"]) ?? "", "must be approved again");
  assertEquals(directory.read("plan.md"), `${TEXT}\nMine.\n`);
  await Deno.remove(`${directory.path}/plan.md`);
  assertStringIncludes(await approved.writeStates(["complete"]) ?? "", "must be approved again");
  assertEquals([...Deno.readDirSync(directory.path)], []);
  assertStringIncludes(await approved.findChange() ?? "", "The plan was removed");
});
