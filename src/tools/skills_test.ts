import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { extractText } from "../core/messages/content.ts";
import { testToolContext } from "../testing/test_tool_context.ts";
import { findSkills, skillTool } from "./skills.ts";

async function withSkills(
  files: Readonly<Record<string, string>>,
  run: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${directory}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${directory}/${path}`, text);
    }
    await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("skills: findSkills() finds skills, and skillTool() lists and reads them", async () => {
  await withSkills({
    "pdf/SKILL.md": "---\nname: pdf\ndescription: Fills in PDF forms.\n---\nDo this.\n",
    "pdf/fill.py": "",
    "release/SKILL.md":
      '---\r\nname: "release"\r\ndescription: >\r\n  Makes a\r\n  release.\r\n---\r\nDo that.',
    "empty/README.md": "",
  }, async (directory) => {
    const { skills, problems } = await findSkills([directory, `${directory}/nowhere`]);
    assertEquals(problems, []);
    assertEquals(skills.map(({ name, description }) => [name, description]), [
      ["pdf", "Fills in PDF forms."],
      ["release", "Makes a release."],
    ]);
    const tool = skillTool(skills);
    assertStringIncludes(
      tool.description,
      "- pdf: Fills in PDF forms.\n- release: Makes a release.",
    );
    const output = await tool.execute({ name: "pdf" }, testToolContext());
    const text = typeof output === "string" ? output : extractText(output.content);
    assertEquals(
      text,
      `Skill pdf, in ${directory}/pdf\nOther files in the directory: fill.py\n\nDo this.`,
    );
  });
});

Deno.test("findSkills() reports invalid skills with a reason", async () => {
  await withSkills({
    "a/SKILL.md": "no head",
    "b/SKILL.md": "---\nname: Bad Name\ndescription: x\n---\n",
    "c/SKILL.md": "---\nname: c\n---\n",
  }, async (directory) => {
    const { skills, problems } = await findSkills([directory]);
    assertEquals(skills, []);
    assertEquals(problems.map(({ directory }) => directory.slice(-1)), ["a", "b", "c"]);
    assert(problems[0]?.problem.includes("has no name"));
    assert(problems[2]?.problem.includes("description is missing"));
  });
});

Deno.test("findSkills() keeps the skill from the earlier directory when two have the same name", async () => {
  const skill = (text: string) => `---\nname: x\ndescription: ${text}\n---\n`;
  await withSkills(
    { "1/x/SKILL.md": skill("first"), "2/x/SKILL.md": skill("second") },
    async (directory) => {
      const { skills } = await findSkills([`${directory}/1`, `${directory}/2`]);
      assertEquals(skills.map(({ description }) => description), ["first"]);
    },
  );
});
