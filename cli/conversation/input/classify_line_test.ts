import { assertEquals } from "@std/assert";
import { classifyLine } from "./classify_line.ts";

const commandNames = ["/help", "#help", "/quit", "/q", "/model", "#approve", "/review", "/login"];

function classify(line: string, isConfirmed = false) {
  return classifyLine(line, { commandNames, isConfirmed });
}

function prompt(text: string, delivery: "steering" | "follow_up" = "steering") {
  return { type: "prompt", text, delivery } as const;
}

Deno.test("classifyLine(): a known first word is a command with its argument", () => {
  assertEquals(classify("/help"), { type: "command", name: "/help", argument: "" });
  assertEquals(classify("  #approve  smart "), {
    type: "command",
    name: "#approve",
    argument: "smart",
  });
});

Deno.test("classifyLine(): a first word that is similar to a command is held back", () => {
  assertEquals(classify("/hlep me"), {
    type: "unknown_command",
    word: "/hlep",
    suggestion: "/help",
  });
  assertEquals(classify("#aprove"), {
    type: "unknown_command",
    word: "#aprove",
    suggestion: "#approve",
  });
  assertEquals(classify("/hlep me", true), prompt("/hlep me"));
});

Deno.test("classifyLine(): a beginning of a command by itself is held back", () => {
  for (
    const [word, suggestion] of [["/he", "/help"], ["/rev", "/review"], [
      "#app",
      "#approve",
    ]] as const
  ) {
    assertEquals(classify(` ${word} `), { type: "unknown_command", word, suggestion });
    assertEquals(classify(`${word} is a path`), prompt(`${word} is a path`));
    assertEquals(classify(`${word}`, true), prompt(`${word}`));
  }
});

Deno.test("classifyLine(): paths, numbers and other words are prompts", () => {
  for (const text of ["/etc/hosts is wrong", "#12 fails", "/tmp is full", "/ a", "# Title"]) {
    assertEquals(classify(text), prompt(text));
  }
});

Deno.test("classifyLine(): a sign by itself is held back", () => {
  for (const sign of ["/", "#", "!", "!!", "@", ">>"]) {
    const line = classify(` ${sign} `);
    assertEquals(line.type === "sign" && line.sign, sign);
    assertEquals(classify(sign, true), prompt(sign));
  }
  assertEquals(classify("!"), {
    type: "sign",
    sign: "!",
    meaning: "a command of the shell",
  });
});

Deno.test("classifyLine(): an API key is held back, also in a command that the model gets", () => {
  const key = `sk-ant-${"a".repeat(40)}`;
  assertEquals(classify(`use ${key}`), { type: "secret" });
  assertEquals(classify(`!echo ${key}`), { type: "secret" });
  assertEquals(classify(`use ${key}`, true), prompt(`use ${key}`));
  assertEquals(classify(`!!echo ${key}`).type, "shell");
});

Deno.test("classifyLine(): an API key in the argument of a command is held back, apart from commands that save one", () => {
  const key = `sk-ant-${"a".repeat(40)}`;
  assertEquals(classify(`/review ${key}`), { type: "secret" });
  assertEquals(classify(`/hlep ${key}`), { type: "secret" });
  assertEquals(classify(`/review ${key}`, true), {
    type: "command",
    name: "/review",
    argument: key,
  });
  assertEquals(classify(`/login anthropic ${key}`).type, "command");
});

Deno.test("classifyLine(): ! runs a command with the model, !! without it", () => {
  assertEquals(classify("!git status"), {
    type: "shell",
    command: "git status",
    isShared: true,
  });
  assertEquals(classify("!! ls"), { type: "shell", command: "ls", isShared: false });
  assertEquals(classify("!!!"), prompt("!!!"));
});

Deno.test("classifyLine(): >> makes a follow-up", () => {
  assertEquals(classify(">> then test"), prompt("then test", "follow_up"));
  assertEquals(classify(" \n "), { type: "empty" });
});
