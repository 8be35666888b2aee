import { isShippedCode } from "./shipped_code.ts";

/** The words, the engine, the agent and the adapters run in a browser or a worker as they do here. */
export const portable: Deno.lint.Rule = {
  create(context) {
    if (!isShippedCode("src/core|src/loop|src/agent|adapters", context.filename)) return {};
    const message = "This folder runs in a browser too: take a port instead.";
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
