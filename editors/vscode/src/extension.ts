// Starts the server, and shows what it says beside what editors show anyhow: the variant of a preset.

import * as vscode from 'vscode';
import {
  type DynamicFeature,
  LanguageClient,
  type StaticFeature,
  TransportKind,
} from 'vscode-languageclient/node';
import { type Command, find, isTosca, page, pathSetting, unfit, version } from './server';

/** The scheme of texts that are answers to commands. */
const SCHEME = 'cuvee-answer';

/** The scheme of files that the server only reads: those that are a part of it, and those in archives. */
const FIXED = 'cuvee';

/** What the server says of elements that the variant of a preset does not have. */
interface Absent {
  uri: string;
  version: number;
  ranges: vscode.Range[];
}

/** How long nobody types before variants are shown anew. */
const IDLE = 300;

/** What a command is about. A lens says it; otherwise it is what is open. */
interface Subject {
  uri: string;
  preset?: string;
  position?: vscode.Position;
}

/** A client that leaves commands to this extension, which shows their answers. */
class Client extends LanguageClient {
  public override registerFeature(feature: StaticFeature | DynamicFeature<any>): void {
    const method = 'registrationType' in feature ? feature.registrationType.method : undefined;
    if (method !== 'workspace/executeCommand') {
      super.registerFeature(feature);
    }
  }
}

let extension: Extension | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  extension = new Extension(context);
  await extension.look();
}

export async function deactivate(): Promise<void> {
  await extension?.stop();
}

class Extension implements vscode.TextDocumentContentProvider {
  readonly #context: vscode.ExtensionContext;
  readonly #log = vscode.window.createOutputChannel('cuvee', { log: true });
  readonly #status = vscode.window.createStatusBarItem('cuvee.preset', vscode.StatusBarAlignment.Right, 90);
  readonly #absent = vscode.window.createTextEditorDecorationType({ opacity: '0.4' });
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #graphs = new Map<string, { panel: vscode.WebviewPanel; subject: Subject }>();
  /** The presets that were chosen, by their templates; an empty name is none. */
  readonly #presets = new Map<string, string>();
  /** What is absent, by templates. */
  readonly #lacking = new Map<string, Absent>();
  /** The presets that the server was told, by templates. */
  readonly #sent = new Map<string, string>();
  #client: Client | undefined;
  #starting: Promise<Client | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;

  readonly onDidChange = this.#changed.event;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.#status.command = 'cuvee.choosePreset';
    this.#status.name = 'Variability preset';
    const shows = (name: string, show: (subject: Subject) => Promise<void>) =>
      vscode.commands.registerCommand(name, (subject?: Subject) => this.#told(() => show(this.#subject(subject))));
    context.subscriptions.push(
      this.#log,
      this.#status,
      this.#absent,
      this.#changed,
      { dispose: () => clearTimeout(this.#timer) },
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.commands.registerCommand('cuvee.choosePreset', () => this.#told(() => this.#choose())),
      shows('cuvee.resolve', (subject) => this.#showVariant(subject)),
      shows('cuvee.graph', (subject) => this.#showGraph(subject)),
      shows('cuvee.explain', (subject) => this.#showText('cuvee.explain', subject)),
      shows('cuvee.matrix', (subject) => this.#showText('cuvee.matrix', subject)),
      vscode.commands.registerCommand('cuvee.readArchive', (archive?: vscode.Uri) => this.#told(() => this.#readArchive(archive))),
      vscode.workspace.onDidOpenTextDocument(() => void this.look()),
      vscode.workspace.onDidChangeTextDocument(() => this.#later()),
      vscode.workspace.onDidCloseTextDocument((document) => this.#forget(document.uri.toString())),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.#restart()),
      vscode.window.onDidChangeActiveTextEditor(() => this.#later()),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.#dim(editor))),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('cuvee.path')) {
          void this.#restart();
        } else if (event.affectsConfiguration('cuvee')) {
          this.#configure();
          this.#later();
        }
      }),
    );
  }

  /** Starts the server once there is something to serve. */
  async look(): Promise<void> {
    if (this.#starting === undefined && vscode.workspace.textDocuments.some(isOurs)) {
      await this.#start();
    }
    this.#later();
  }

  async stop(): Promise<void> {
    await this.#client?.stop();
  }

  /** A text for reading: the answer to a command, by its address. */
  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const { command, subject } = JSON.parse(uri.query) as { command: string; subject: Subject };
    try {
      return String(await this.#ask(command, subject, token));
    } catch (error) {
      return `# ${message(error).replaceAll('\n', '\n# ')}\n`;
    }
  }

  // The server.

  #start(): Promise<Client | undefined> {
    this.#starting ??= this.#started();
    return this.#starting;
  }

  async #started(): Promise<Client | undefined> {
    const command = find({
      setting: pathSetting(vscode.workspace.getConfiguration('cuvee').inspect('path'), vscode.workspace.isTrusted),
      directories: (process.env['PATH'] ?? '').split(process.platform === 'win32' ? ';' : ':'),
      extension: this.#context.extensionPath,
      platform: process.platform,
    });
    if (typeof command === 'string') {
      return this.#failed(command);
    }
    const known = await version(command);
    if ('why' in known) {
      return this.#failed(known.why);
    }
    this.#log.info(`${known.says}, ${command.path}, ${from(command)}`);
    const client = new Client(
      'cuvee',
      'cuvee',
      { command: command.path, args: ['lsp'], transport: TransportKind.stdio },
      {
        documentSelector: [
          { scheme: 'file', language: 'yaml' },
          { scheme: FIXED, language: 'yaml' },
        ],
        initializationOptions: settings(),
        outputChannel: this.#log,
      },
    );
    await client.start();
    const why = unfit(client.initializeResult?.capabilities.experimental);
    if (why !== undefined) {
      await client.stop();
      return this.#failed(`${why} (${known.says}, ${command.path})`);
    }
    this.#status.tooltip = new vscode.MarkdownString(`${known.says}, ${from(command)}\n\n${command.path}`);
    client.onNotification('cuvee/absent', (absent: Absent) => {
      this.#lacking.set(client.protocol2CodeConverter.asUri(absent.uri).toString(), absent);
      vscode.window.visibleTextEditors.forEach((editor) => this.#dim(editor));
    });
    this.#client = client;
    return client;
  }

  /** Tells the server the settings. */
  #configure(): void {
    void this.#client?.sendNotification('workspace/didChangeConfiguration', { settings: { cuvee: settings() } });
  }

  #forget(uri: string): void {
    this.#lacking.delete(uri);
    this.#sent.delete(uri);
  }

  #failed(why: string): undefined {
    this.#log.error(why);
    void vscode.window.showErrorMessage(`cuvee: ${why}`);
    return undefined;
  }

  async #restart(): Promise<void> {
    await this.#client?.stop();
    this.#client = undefined;
    this.#starting = undefined;
    this.#sent.clear();
    this.#lacking.clear();
    await this.look();
  }

  async #ask(command: string, subject: Subject, token?: vscode.CancellationToken): Promise<unknown> {
    const client = await this.#start();
    if (client === undefined) {
      throw new Error('cuvee does not run');
    }
    const request = { command, arguments: [subject] };
    // What is behind the parameters and is no token would be a parameter, too.
    return token === undefined
      ? client.sendRequest('workspace/executeCommand', request)
      : client.sendRequest('workspace/executeCommand', request, token);
  }

  /** Does something; says why where it cannot be done. */
  async #told(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      void vscode.window.showErrorMessage(`cuvee: ${message(error)}`);
    }
  }

  // The preset.

  #preset(uri: vscode.Uri): string {
    const chosen = this.#presets.get(uri.toString());
    return chosen ?? vscode.workspace.getConfiguration('cuvee', uri).get('preset', '');
  }

  /** What a command is about: what a lens says, or the template at hand with its preset. */
  #subject(given?: Subject): Subject {
    if (given?.uri !== undefined) {
      return given;
    }
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || !isOurs(editor.document)) {
      throw new Error('open a template first');
    }
    const preset = this.#preset(editor.document.uri);
    const subject = { uri: editor.document.uri.toString(), position: editor.selection.active };
    return preset === '' ? subject : { ...subject, preset };
  }

  async #choose(): Promise<void> {
    const { uri } = this.#subject();
    const names = (await this.#ask('cuvee.presets', { uri })) as string[];
    const none: vscode.QuickPickItem = { label: 'No preset', description: 'nothing is dimmed' };
    const items = [none, ...names.map((label) => ({ label }))];
    const chosen = await vscode.window.showQuickPick(items, { title: 'Variability preset', placeHolder: 'Shows what it leaves' });
    if (chosen !== undefined) {
      this.#presets.set(uri, chosen === none ? '' : chosen.label);
      await this.#refresh();
    }
  }

  // What is shown.

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#refresh(), IDLE);
  }

  /** Shows anew whatever follows the text. */
  async #refresh(): Promise<void> {
    const active = vscode.window.activeTextEditor?.document;
    if (active !== undefined && isOurs(active)) {
      const preset = this.#preset(active.uri);
      this.#status.text = `$(layers) ${preset === '' ? 'no preset' : preset}`;
      this.#status.show();
    } else {
      this.#status.hide();
    }
    if (this.#client === undefined) {
      return;
    }
    for (const document of vscode.workspace.textDocuments.filter((it) => it.uri.scheme === SCHEME)) {
      this.#changed.fire(document.uri);
    }
    await Promise.all(vscode.workspace.textDocuments.filter(isOurs).map(({ uri }) => this.#tell(uri)));
    await Promise.all([...this.#graphs.values()].map((graph) => this.#draw(graph)));
  }

  /** Tells the server which preset is shown for a template, if that is news. */
  async #tell(uri: vscode.Uri): Promise<void> {
    const [name, preset] = [uri.toString(), this.#preset(uri)];
    if ((this.#sent.get(name) ?? '') !== preset) {
      this.#sent.set(name, preset);
      await this.#client?.sendNotification('cuvee/preset', { uri: name, preset });
    }
  }

  /** Dims what is absent, as far as it is known of this version; an editor moves it as its text changes. */
  #dim(editor: vscode.TextEditor): void {
    const { uri, version } = editor.document;
    const absent = this.#lacking.get(uri.toString());
    if (absent?.version === version) {
      const range = ({ start, end }: vscode.Range) => new vscode.Range(start.line, start.character, end.line, end.character);
      editor.setDecorations(this.#absent, absent.ranges.map(range));
    }
  }

  async #showVariant(subject: Subject): Promise<void> {
    const template = vscode.Uri.parse(subject.uri);
    const preset = subject.preset ?? '';
    const title = `${template.path.split('/').at(-1)}: ${preset === '' ? 'variant' : preset}`;
    await vscode.commands.executeCommand('vscode.diff', template, reading('cuvee.resolve', subject, 'variant.yaml'), title);
  }

  /** Opens the template of an archive, which is only read. */
  async #readArchive(given?: vscode.Uri): Promise<void> {
    const filters = { 'TOSCA archives': ['csar', 'zip'] };
    const archive = given ?? (await vscode.window.showOpenDialog({ filters }))?.[0];
    if (archive !== undefined) {
      const template = String(await this.#ask('cuvee.template', { uri: archive.toString() }));
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.parse(template)));
    }
  }

  async #showText(command: string, subject: Subject): Promise<void> {
    const document = await vscode.workspace.openTextDocument(reading(command, subject, `${command}.md`));
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
  }

  async #showGraph(subject: Subject): Promise<void> {
    const { uri, preset = '' } = subject;
    const key = `${uri}#${preset}`;
    const shown = this.#graphs.get(key);
    if (shown !== undefined) {
      shown.panel.reveal(undefined, true);
      return;
    }
    const title = preset === '' ? 'Graph' : `Graph: ${preset}`;
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel('cuvee.graph', title, where, { enableScripts: false, localResourceRoots: [] });
    const graph = { panel, subject };
    this.#graphs.set(key, graph);
    panel.onDidDispose(() => this.#graphs.delete(key));
    await this.#draw(graph, true);
  }

  async #draw(graph: { panel: vscode.WebviewPanel; subject: Subject }, isNew = false): Promise<void> {
    try {
      const svg = String(await this.#ask('cuvee.graph', graph.subject));
      const html = page(svg, graph.panel.title);
      if (graph.panel.webview.html !== html) {
        graph.panel.webview.html = html;
      }
    } catch (error) {
      // A drawing stays until there is another one.
      if (isNew) {
        graph.panel.dispose();
        throw error;
      }
    }
  }
}

interface Settings {
  inlayHints: boolean;
  lenses: boolean;
  profilePaths: string[];
  map: Record<string, string>;
}

/** What the server is told of the settings. Presets it is told by template. */
function settings(): Settings {
  const own = vscode.workspace.getConfiguration('cuvee');
  return {
    inlayHints: own.get('inlayHints', true),
    lenses: own.get('lenses', true),
    profilePaths: own.get('profilePaths', []),
    map: own.get('map', {}),
  };
}

function isOurs(document: vscode.TextDocument): boolean {
  return document.uri.scheme === 'file' && document.languageId === 'yaml' && isTosca(document.getText());
}

/** The address of a text that a command answers with. */
function reading(command: string, subject: Subject, name: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: JSON.stringify({ command, subject }) });
}

function from(command: Command): string {
  return { setting: 'from the setting cuvee.path', PATH: 'from PATH', extension: 'from the extension' }[command.from];
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
