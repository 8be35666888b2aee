import { isCodeIn } from "./directories.ts";

/** Keeps `Deno`, imports of `node:` and functions that Node 20 does not have out of code that every runtime can load. */
export const portable: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src|adapters", context.filename)) return {};
    const message = isCodeIn("src/core|src/loop|src/agent|adapters", context.filename)
      ? "This code also runs in browsers: use a port instead."
      : "This code also runs on Node: use src/platform instead.";
    const report = (node: Deno.lint.Node) => context.report({ node, message });
    const reportNew = (node: Deno.lint.Node) =>
      context.report({
        node,
        message: "Node 20, which the library supports, has no such function.",
      });
    return {
      'MemberExpression[object.name="Deno"]': report,
      'ImportDeclaration[importKind="value"][source.value=/^node:/]': report,
      "ImportExpression[source.value=/^node:/]": report,
      "ExportNamedDeclaration[source.value=/^node:/]": report,
      'MemberExpression[object.name=/^(?:Map|Object)$/][property.name="groupBy"]': reportNew,
      'MemberExpression[object.name="Promise"][property.name=/^(?:withResolvers|try)$/]': reportNew,
      'MemberExpression[object.name="Array"][property.name="fromAsync"]': reportNew,
    };
  },
};
