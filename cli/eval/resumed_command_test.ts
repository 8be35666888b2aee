import { assertEquals } from "@std/assert";
import { formatResumedCommand } from "./resumed_command.ts";

Deno.test("formatResumedCommand: has the options that the evaluation on disk does not have", () => {
  const options = {
    model: ["a/b"],
    replay: "my recording",
    judge: "a/judge",
    maxTurns: 7,
    net: true,
    parallel: 4,
    results: "ci",
    env: ["HOME", "TOKEN=secret"],
    timeout: "$1",
  };
  const given = new Set(Object.keys(options).filter((name) => name !== "parallel"));
  assertEquals(
    formatResumedCommand("swink eval run", "a set.yaml", { options, given }),
    'swink eval run "a set.yaml" --replay="my recording" --judge=a/judge --max-turns=7 --net' +
      " --env=HOME --env=TOKEN=... --timeout='$1'",
  );
});
