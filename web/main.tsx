import '@mantine/core/styles.css';
import '@mantine/dropzone/styles.css';
import './shell/console.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { styleNonce } from './client/style-nonce.ts';
import { ConsoleApp } from './shell/console-app.tsx';

// react-remove-scroll, used by dialogs, adds a style element and reads its nonce from this variable.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() });

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <ConsoleApp />
  </StrictMode>,
);
