import { isCodeIn } from "./directories.ts";

/** Keeps `Deno` and `node:` out of code that also runs in a browser or a worker. */
export const portable: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src/core|src/loop|src/agent|adapters", context.filename)) return {};
    const message = "This code also runs in browsers: use a port instead.";
    return {
      'MemberExpression[object.name="Deno"]'(node: Deno.lint.MemberExpression) {
        context.report({ node, message });
      },
      "Literal[value=/^node:/]"(node: Deno.lint.Literal) {
        context.report({ node, message });
      },
    };
  },
};
