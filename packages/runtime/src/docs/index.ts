export { docsPage } from './docsPage.ts';
export { writePage } from './writePage.ts';
