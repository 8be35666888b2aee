import { isCodeIn } from "./directories.ts";

/** The library never logs, and the program writes through its terminal port. */
export const consoleFree: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src|adapters|cli", context.filename)) return {};
    return {
      'MemberExpression[object.name="console"]'(node: Deno.lint.MemberExpression) {
        context.report({ node, message: "Shipped code does not write to the console." });
      },
    };
  },
};
