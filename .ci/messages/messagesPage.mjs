/** Prints messages as the page docs/messages.md. */

/** @type {Record<import('./audience.mjs').Audience, [string, string]>} */
const audiences = {
  client: [
    'Clients',
    'In responses over HTTP and tRPC, in close reasons of WebSockets, and in errors of the client.',
  ],
  document: ['Readers of an OpenAPI document', 'Descriptions of operations, schemas and responses.'],
  author: [
    'Authors of a router',
    'When a service starts, when its types are printed, and in logs where its code makes a mistake.',
  ],
  operator: ['Operators', 'In the terminal, the log and the metrics.'],
};

/** @param {readonly import('./collectMessages.mjs').Message[]} messages */
export function messagesPage(messages) {
  const sections = Object.entries(audiences).map(([audience, [title, description]]) => {
    const own = messages.filter((message) => message.audience === audience);
    const byPackage = Map.groupBy(own, ({ file }) => file.replace(/\/src\/.*/, ''));
    return `## ${title}\n\n${description}\n\n${[...byPackage].map(packageSection).join('\n')}`;
  });
  return `${head}\n${sections.join('\n')}`;
}

const head = `# Messages

Every text that a user can read, from the sources. Generated: \`npm run messages\` writes this page, and a test compares it with the sources.

A value in a message is \`{name}\`, a choice of texts \`{one|other}\`. A *part* stands in other messages: after the name of a field, or in place of a \`{name}\`.
`;

/** @param {[string, import('./collectMessages.mjs').Message[]]} entry */
function packageSection([name, messages]) {
  const rows = messages
    .filter(({ kind }) => kind !== 'usage')
    .map(
      ({ text, file, kind }) =>
        `| ${code(text)} | ${kind === 'sentence' ? '' : kind} | \`${file.slice(name.length + 5)}\` |\n`,
    );
  const table = rows.length === 0 ? '' : `| message | kind | file |\n|---|---|---|\n${rows.join('')}`;
  const blocks = messages
    .filter(({ kind }) => kind === 'usage')
    .map(({ text, file }) => `\n\`${file.slice(name.length + 5)}\`:\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n`);
  return `### \`${name}\`\n\n${table}${blocks.join('')}`;
}

/** A text as a code span in a table. */
function code(text) {
  const line = text
    .trimEnd()
    .replaceAll('\n', '↵')
    .replaceAll('|', String.raw`\|`);
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}
