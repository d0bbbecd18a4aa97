import { writeFile } from 'node:fs/promises';
import { generated, generatedFolder } from './generated.ts';

for (const [name, text] of Object.entries(await generated())) {
  await writeFile(new URL(name, generatedFolder), text);
}
