/**
 * Kinds of mutants that Stryker has not: single statements that are left out, numbers that are off by one, branches that
 * change places. They have the shape of Stryker's own and are added to its list.
 */

/** A node of the syntax tree, as far as it matters here. */
export interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Babel's path to a node, as far as it matters here. */
export interface NodePath {
  readonly node: Node;
  readonly parent: Node | undefined;
  /** The list that the node is in, a block's statements for instance. */
  readonly container: unknown;
}

export interface Mutator {
  readonly name: string;
  mutate(path: NodePath): Iterable<Node>;
}

/** Statements that can go without taking a name with them. */
const REMOVABLE = new Set([
  'ExpressionStatement',
  'ReturnStatement',
  'ThrowStatement',
  'BreakStatement',
  'ContinueStatement',
]);

const removedStatement: Mutator = {
  name: 'RemovedStatement',
  *mutate({ node, container }) {
    // One that is alone in its block goes with the block, which Stryker does.
    if (!REMOVABLE.has(node.type) || !Array.isArray(container) || container.length < 2) return;
    const { expression } = node as { readonly expression?: Node };
    if (node.type === 'ExpressionStatement' && isSuperCall(expression)) return;
    yield { type: 'EmptyStatement' };
  },
};

/** A constructor without it does not run at all. */
function isSuperCall(node: Node | undefined): boolean {
  return node?.type === 'CallExpression' && (node.callee as Node).type === 'Super';
}

const numberOffByOne: Mutator = {
  name: 'NumberOffByOne',
  *mutate({ node, parent }) {
    if (node.type !== 'NumericLiteral' || parent?.type === 'TSLiteralType') return;
    if (parent?.type === 'ObjectProperty' && parent.key === node) return;
    const value = node.value as number;
    yield { type: 'NumericLiteral', value: value === 0 ? 1 : value - 1 };
  },
};

const swappedBranches: Mutator = {
  name: 'SwappedBranches',
  *mutate({ node }) {
    if (node.type !== 'ConditionalExpression' && node.type !== 'IfStatement') return;
    if (node.alternate === null || node.alternate === undefined) return;
    // The alternative of `if ... else if` has to be in braces of its own, or its `else` would change its owner.
    const isIf = node.type === 'IfStatement';
    const wrap = (branch: unknown) => (isIf ? { type: 'BlockStatement', body: [branch], directives: [] } : branch);
    const { type, test, consequent, alternate } = node;
    yield { type, test, consequent: wrap(alternate), alternate: wrap(consequent) };
  },
};

export const OWN_MUTATORS: readonly Mutator[] = [removedStatement, numberOffByOne, swappedBranches];

/**
 * Stryker's own that are left out: texts are messages for the most part, and an object or array made empty fails
 * whatever the tests look at.
 */
export const LEFT_OUT: ReadonlySet<string> = new Set(['StringLiteral', 'ObjectLiteral', 'ArrayDeclaration', 'Regex']);
