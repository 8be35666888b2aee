import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { extractText } from "../core/content.ts";
import { findSkills, skillTool } from "./skills.ts";

async function withSkills(
  files: Readonly<Record<string, string>>,
  run: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${path}`, text);
    }
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("skills are found, listed by name and description, and read on use", async () => {
  await withSkills({
    "pdf/SKILL.md": "---\nname: pdf\ndescription: Fills in PDF forms.\n---\nDo this.\n",
    "pdf/fill.py": "",
    "release/SKILL.md":
      '---\r\nname: "release"\r\ndescription: >\r\n  Makes a\r\n  release.\r\n---\r\nDo that.',
    "empty/README.md": "",
  }, async (folder) => {
    const { skills, problems } = await findSkills([folder, `${folder}/nowhere`]);
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
    const answer = await tool.execute({ name: "pdf" }, {
      toolCallId: "",
      idempotencyKey: "",
      signal: new AbortController().signal,
      onUpdate: () => {},
    });
    const text = typeof answer === "string" ? answer : extractText(answer.content);
    assertEquals(text, `Skill pdf, in ${folder}/pdf\nOther files there: fill.py\n\nDo this.`);
  });
});

Deno.test("what is no proper skill is left out, with the reason", async () => {
  await withSkills({
    "a/SKILL.md": "no head",
    "b/SKILL.md": "---\nname: Bad Name\ndescription: x\n---\n",
    "c/SKILL.md": "---\nname: c\n---\n",
  }, async (folder) => {
    const { skills, problems } = await findSkills([folder]);
    assertEquals(skills, []);
    assertEquals(problems.map(({ directory: where }) => where.slice(-1)), ["a", "b", "c"]);
    assert(problems[2]?.problem.includes("description is missing"));
  });
});

Deno.test("of two skills with one name the one from the earlier folder counts", async () => {
  const skill = (text: string) => `---\nname: x\ndescription: ${text}\n---\n`;
  await withSkills(
    { "1/x/SKILL.md": skill("first"), "2/x/SKILL.md": skill("second") },
    async (folder) => {
      const { skills } = await findSkills([`${folder}/1`, `${folder}/2`]);
      assertEquals(skills.map(({ description }) => description), ["first"]);
    },
  );
});
